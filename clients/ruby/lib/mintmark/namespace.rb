# frozen_string_literal: true

require_relative "record"

module Mintmark
  # The methods of a client that share the first part of their names.
  class Namespace
    def initialize(client)
      @client = client
    end

    def inspect = "#<#{self.class}>"

    private

    def call(method, params, timeout, trace, progress = nil)
      @client.call(method, params.compact, timeout: timeout, trace: trace, progress: progress)
    end
  end
end
