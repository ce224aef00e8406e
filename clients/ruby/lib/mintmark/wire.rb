# frozen_string_literal: true

require "json"

module Mintmark
  # JSON-RPC 2.0, one message per line.
  module Wire
    module_function

    # Encodes a request. Raises an error if the parameters cannot be encoded as JSON or the request is too long.
    def request(id, method, params, trace, longest, progress = nil)
      envelope = {"jsonrpc" => "2.0", "id" => id, "method" => method, "params" => plain(params, method, 2)}
      envelope["trace"] = trace if trace
      envelope["progressToken"] = id if progress
      line = JSON.generate(envelope)
      return line if line.bytesize <= longest

      reason = "it is longer than #{longest} bytes (max_line_bytes)"
      raise InvalidRequest.new({"code" => -32600, "message" => "This request cannot be sent: #{reason}.", "data" => {"type" => "invalidRequest", "reason" => reason}})
    rescue JSON::GeneratorError => error
      raise ArgumentError, "The parameters of #{method} have no JSON: #{error.message}"
    end

    def plain(value, method, depth)
      raise ArgumentError, "The parameters of #{method} nest deeper than 64 levels, or contain themselves." if depth > 64

      case value
      when nil, true, false, Integer, String, Symbol then value
      when Float
        raise ArgumentError, "The parameters of #{method} have the number #{value}, which has no JSON." unless value.finite?

        value
      when Record then value.to_h
      when Time then value.to_i
      when Hash then value.to_h { |name, each| [name.to_s, plain(each, method, depth + 1)] }
      when Array then value.map { |each| plain(each, method, depth + 1) }
      else raise ArgumentError, "The parameters of #{method} have a #{value.class}, which has no JSON."
      end
    end

    # @return the time limit, or nil if there is none or it is longer than 1,000,000,000 seconds
    def check_timeout(seconds)
      return if seconds.nil?
      raise ArgumentError, "timeout is a positive number of seconds, not #{seconds.inspect}" unless seconds.is_a?(Numeric) && seconds.real? && seconds.positive?

      seconds if seconds < 1e9
    end

    def cancel(id) = %({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":#{id}}})

    # Whether a version such as 0.1.0 is below another. A text that is not a version is never below another.
    def below?(version, other)
      return false unless version.match?(/\A\d+(\.\d+)*(-.*)?\z/)

      (version.split("-").first.split(".").map(&:to_i) <=> other.split(".").map(&:to_i)) == -1
    end
  end
end
