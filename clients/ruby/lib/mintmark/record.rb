# frozen_string_literal: true

module Mintmark
  # An object in a result. Every known class of results has one reader for each member, such as `pool.pool_id`; a misspelled name raises
  # NoMethodError. `record["poolId"]` reads any member by its name in JSON, including members that this client does not know. Records are frozen, are
  # equal if they have the same class and members, and can be matched as patterns. `inspect` hides secrets; `to_h` returns all values.
  class Record
    # A member that a class knows.
    Member = Struct.new(:reader, :is_secret)
    private_constant :Member

    class << self
      # Converts a JSON value: objects become records, including objects in lists.
      def of(value)
        case value
        when Hash then new(value)
        when Array then value.map { |each| of(each) }.freeze
        else value
        end
      end

      # Converts a member as declared. A value of an unexpected type is returned unchanged.
      # @param conversion `:time`, the name of a record class, or a list or map of these; nil for a plain JSON value
      def convert(value, conversion)
        case conversion
        when nil then value
        when :time then value.is_a?(Integer) ? Time.at(value).utc.freeze : value
        when Symbol then value.is_a?(Hash) ? Mintmark.const_get(conversion, false).new(value) : value
        when Array then value.is_a?(Array) ? value.map { |each| convert(each, conversion.first) }.freeze : value
        else value.is_a?(Hash) ? value.transform_values { |each| convert(each, conversion[:values]) }.freeze : value
        end
      end

      # The members that this class knows, by their names in JSON. They include those of its superclass.
      def members = @members ||= superclass.respond_to?(:members) ? superclass.members.dup : {}

      # Returns a frozen copy of a JSON value. A value that is already frozen is returned unchanged.
      def frozen(value)
        return value if value.frozen?

        case value
        when Hash then value.to_h { |name, each| [name.to_s, frozen(each)] }.freeze
        when Array then value.map { |each| frozen(each) }.freeze
        else value.dup.freeze
        end
      end

      private

      # @!macro [attach] member
      #   @!attribute [r] $1
      def member(reader, name, conversion = nil, secret: false)
        members[name] = Member.new(reader, secret)
        return define_method(reader) { @members[name] } unless conversion

        define_method(reader) { Record.convert(@members[name], conversion) }
      end
    end

    # @param members [Hash] the members by their names in JSON
    def initialize(members)
      @members = Record.frozen(members)
      freeze
    end

    # @return the value of the member with this name in JSON, or nil if it is absent
    def [](name)
      known = self.class.members[name.to_s]
      known ? public_send(known.reader) : Record.of(@members[name.to_s])
    end

    def key?(name) = @members.key?(name.to_s)

    # @return [Hash] a copy of the JSON, including secrets
    def to_h = copy(@members)

    def to_json(*options) = @members.to_json(*options)

    def ==(other) = other.instance_of?(self.class) && other.json == @members

    def eql?(other) = other.instance_of?(self.class) && other.json.eql?(@members)

    def hash = [self.class, @members].hash

    def inspect
      shown = @members.map { |name, value| "#{self.class.members[name]&.reader || name}: #{shown(name, value)}" }
      "#<#{self.class} #{shown.join(', ')}>"
    end
    alias to_s inspect

    # Reads a nested member: `answer.dig(:credentials, :accessKeyId)`.
    def dig(name, *rest) = rest.empty? ? self[name] : self[name]&.dig(*rest)

    # Supports pattern matching by reader names: `in {pool_id:, name: "shop"}`.
    def deconstruct_keys(_) = @members.keys.to_h { |name| [(self.class.members[name]&.reader || name).to_sym, self[name]] }

    def marshal_dump = @members

    def marshal_load(members) = Record.instance_method(:initialize).bind_call(self, members)

    protected

    def json = @members

    private

    def shown(name, value)
      known = self.class.members[name]
      return known.is_secret ? "[secret]" : self[name].inspect if known
      # A member that this client does not know can be a secret.
      return "[unknown]" unless instance_of?(Record)

      SECRETS.include?(name) ? "[secret]" : Record.of(value).inspect
    end

    def copy(value)
      case value
      when Hash then value.transform_values { |each| copy(each) }
      when Array then value.map { |each| copy(each) }
      when String then value.dup
      else value
      end
    end
  end

  # An object whose members depend on the value of one of them, such as `state`. `new` returns an instance of the class of that value, such as
  # `SignUpStep::Completed`, or of `Other` for a value that this client does not know.
  class Union < Record
    class << self
      def new(members)
        return super unless @variants

        value = members[@discriminator] || members[@discriminator.to_sym]
        const_get(@variants.fetch(value, :Other), false).new(members)
      end

      private

      def variants(discriminator, names)
        @discriminator = discriminator
        @variants = names.freeze
      end
    end
  end

  # A page of a list: `m.pool.list.auto_paging_each { |pool| … }`.
  class List < Record
    # @param more [#call, nil] requests the page at a cursor
    def initialize(members, more = nil)
      @more = more
      super(members)
    end

    # @return [Array, nil] the items of this page
    def items = nil

    # @return [String, nil] the cursor of the next page, or nil on the last page
    def next_cursor = @members["nextCursor"]

    # Yields the items of this page.
    # @return [Enumerator] without a block
    def each(&block)
      return enum_for(:each) unless block

      items&.each(&block)
      self
    end

    # Yields the items of this page and of all following pages, which are requested as needed.
    # @return [Enumerator] without a block
    def auto_paging_each(&block)
      return enum_for(:auto_paging_each) unless block

      each_page { |page| page.each(&block) }
      self
    end

    # Yields this page and all following pages, which are requested as needed.
    # @return [Enumerator] without a block
    def each_page
      return enum_for(:each_page) unless block_given?

      page = self
      while page
        yield page
        page = page.next_page
      end
      self
    end

    # @return [List, nil] the next page, or nil after the last page
    def next_page
      return if next_cursor.nil?
      raise Error, "This page has no client that can read the next page." unless @more

      @more.call(next_cursor)
    end
  end
end
