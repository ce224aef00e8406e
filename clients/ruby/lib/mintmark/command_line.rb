# frozen_string_literal: true

module Mintmark
  # The command line of `mintmark serve`.
  module CommandLine
    module_function

    # @return [Array<(String, String)>] the store and the app that the environment names: at most one of them
    def place
      store, app = %w[MINTMARK_STORE MINTMARK_APP].map { |name| ENV[name] unless ENV[name].to_s.empty? }
      [store, (app unless store)]
    end

    # @param options [Hash] values by the names in {OPTIONS}
    # @return [Array<String>]
    # @raise [ArgumentError] for a name that is not in {OPTIONS}, or a value of another type, such as a string for a boolean
    def arguments(options)
      options.compact.filter_map do |name, value|
        flag, type = OPTIONS.fetch(name) do
          raise ArgumentError, "unknown keyword: #{name.inspect}. Options are #{OPTIONS.keys.join(', ')}; arguments: passes other arguments to mintmark serve."
        end
        raise ArgumentError, "#{name}: must be true or false, not #{value.inspect}" if type == :boolean && ![true, false].include?(value)

        # The form with "=" allows values that begin with "-".
        type == :boolean ? value && flag : "#{flag}=#{text(name, value, type)}"
      end
    end

    def text(name, value, type)
      case type
      when :path then File.expand_path(value)
      when :time, :integer then Integer(value.is_a?(Time) && type == :time ? value.to_i : value)
      else value
      end
    rescue TypeError
      raise ArgumentError, "#{name}: does not take #{value.inspect}"
    end
  end
end
