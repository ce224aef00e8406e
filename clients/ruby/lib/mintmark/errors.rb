# frozen_string_literal: true

require_relative "record"

module Mintmark
  # The base of all errors of this client. Wrong arguments are ArgumentError.
  class Error < StandardError; end

  # The same under the name that it has in the other clients.
  MintmarkError = Error

  # Mintmark answered with an error. Each type that this client knows has a class of its own with readers for its details.
  class APIError < Error
    # @return [Integer] the number of the error
    attr_reader :code
    # @return [String, nil] the stable name of the error, such as `poolNotFound`
    attr_reader :type
    # @return [Hash] the details as JSON
    attr_reader :data
    # @return [String, nil] the trace of the call
    attr_reader :trace
    # @return [String, nil] the method that was called
    attr_reader :method_name

    # @!macro [attach] detail
    #   @!attribute [r] $1
    def self.detail(reader, name, conversion = nil) = define_method(reader) { Record.convert(data[name], conversion) }
    private_class_method :detail

    def initialize(error, message: nil, trace: nil, method_name: nil)
      super(message || error["message"])
      @code, @data, @trace, @method_name = error["code"], error["data"] || {}, trace, method_name
      @type = @data["type"]
    end

    # @return [Integer, nil] the time, in seconds, after which the same call can succeed
    def retry_after_seconds = data["retryAfterSeconds"]
  end

  # The program does not exist or cannot be run.
  class BinaryNotFound < Error; end

  # The program is older than this client, or lacks one of its methods.
  class BinaryTooOld < Error; end

  # The output of the program is not that of Mintmark. The process was killed.
  class ProtocolError < Error; end

  # The process ended before it answered. It is unknown whether the call took effect.
  class ProcessEnded < Error
    # @return [Process::Status, nil] how it ended
    attr_reader :status

    def initialize(message, status = nil)
      super(message)
      @status = status
    end
  end

  # The time limit of a call passed. The call was cancelled; it is unknown whether it took effect.
  #
  # This is no Timeout::Error: every error of a client is a {Mintmark::Error}, and a program that encloses calls in `Timeout.timeout` can tell its
  # own limit from that of the call.
  class CallTimeout < Error; end

  # The client or the provider was closed before the call.
  class ClientClosed < Error; end
end
