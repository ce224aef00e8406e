# frozen_string_literal: true

require_relative "../mintmark"
require_relative "generated/testing/records"
require_relative "generated/testing/test"
require_relative "identity_provider"

module Mintmark
  # A client of a testing store, which has a virtual clock and captures messages: `m.test.clock(advance_seconds: 3600)`.
  class TestingClient < Client
    # @param options [Hash] the options of {Client#initialize}. Without `store:` and `app:`, the store is in memory.
    def initialize(**options)
      options = {store: ":memory:", **options} unless options[:app]
      super(testing: true, **options)
    end

    # @return [TestMethods] the methods `test.*`
    def test = (@test ||= TestMethods.new(self))
  end

  # Starts a process with a new testing store: `Mintmark.testing { |m| … }`.
  #
  # @see TestingClient
  def self.testing(**options, &block) = TestingClient.start(**options, &block)
end
