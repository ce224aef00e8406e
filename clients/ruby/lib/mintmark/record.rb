# frozen_string_literal: true

module Mintmark
  # An object of an answer: `pool.pool_id`, or `pool["poolId"]` by its name on the wire. Members that this client does not know are there too.
  # `inspect` shows no secrets; `to_h` has everything as it was answered.
  class Record
    # @return what stands for a value: objects become records, also in lists.
    def self.of(value)
      case value
      when Hash then new(value)
      when Array then value.map { |each| of(each) }
      else value
      end
    end

    def initialize(members)
      @members = members
    end

    def [](name) = Record.of(@members[name.to_s])

    def key?(name) = @members.key?(name.to_s)

    def to_h = @members

    def to_json(*options) = @members.to_json(*options)

    def ==(other) = other.is_a?(Record) && other.to_h == @members

    def inspect
      shown = @members.map { |name, value| "#{name}: #{SECRETS.include?(name) ? '[secret]' : Record.of(value).inspect}" }
      "#<Mintmark::Record #{shown.join(', ')}>"
    end
    alias to_s inspect

    # A member within a member: `answer.dig(:credentials, :expiresAt)`.
    def dig(name, *rest) = rest.empty? ? self[name] : self[name]&.dig(*rest)

    # For pattern matching: `in {pool_id:, name: "shop"}`.
    def deconstruct_keys(_) = @members.to_h { |name, value| [name.gsub(/(?<=[^A-Z_])([A-Z])/, '_\1').downcase.to_sym, Record.of(value)] }

    def respond_to_missing?(name, include_private = false) = @members.key?(name.to_s) || @members.key?(wire(name)) || super

    # A member that is absent is nil.
    def method_missing(name, *arguments)
      return super unless arguments.empty? && name.match?(/\A[a-z]\w*\z/)

      self[@members.key?(name.to_s) ? name : wire(name)]
    end

    private

    def wire(name) = name.to_s.gsub(/_(.)/) { ::Regexp.last_match(1).upcase }
  end
end
