# frozen_string_literal: true

require "json"

module Mintmark
  # JSON-RPC 2.0, one message per line.
  module Wire
    module_function

    # A request. What the process could not attribute to it, and what has no JSON, is refused here.
    def request(id, method, params, trace, longest)
      envelope = {"jsonrpc" => "2.0", "id" => id, "method" => method, "params" => plain(params, method, 2)}
      envelope["trace"] = trace if trace
      line = JSON.generate(envelope)
      return line if line.bytesize <= longest

      reason = "it is longer than #{longest} bytes (max_line)"
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
      when Hash then value.to_h { |name, each| [name.to_s, plain(each, method, depth + 1)] }
      when Array then value.map { |each| plain(each, method, depth + 1) }
      else raise ArgumentError, "The parameters of #{method} have a #{value.class}, which has no JSON: give its text, or a time as seconds since 1970."
      end
    end

    def cancel(id) = %({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":#{id}}})

    def below?(version, other)
      (version.split("-").first.split(".").map(&:to_i) <=> other.split(".").map(&:to_i)) == -1
    end
  end
end
