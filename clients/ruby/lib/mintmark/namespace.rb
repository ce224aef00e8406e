# frozen_string_literal: true

require_relative "record"

module Mintmark
  # Some methods of a client.
  class Namespace
    def initialize(client)
      @client = client
    end

    def inspect = "#<#{self.class}>"

    private

    def typed(method, params, timeout, trace)
      Record.of(@client.call(method, params.compact, timeout: timeout, trace: trace))
    end
  end
end
