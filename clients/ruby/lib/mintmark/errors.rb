# frozen_string_literal: true

require_relative "record"

module Mintmark
  # The superclass of all errors of this client, except ArgumentError for invalid arguments.
  class Error < StandardError; end

  # An alias with the name that the other clients use.
  MintmarkError = Error

  # Mintmark returned an error. Each error type that this client knows has its own class with readers for its details.
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

  # The output of the program is not valid Mintmark output. The process was killed.
  class ProtocolError < Error; end

  # The process ended before it returned a response. It is unknown whether the call took effect.
  class ProcessEnded < Error
    # @return [Process::Status, nil] the exit status
    attr_reader :status

    def initialize(message, status = nil)
      super(message)
      @status = status
    end
  end

  # The time limit of a call passed. The call was canceled; it is unknown whether it took effect.
  #
  # Not a subclass of Timeout::Error: every error of a client is a {Mintmark::Error}, and a program that encloses calls in `Timeout.timeout` can
  # distinguish its own time limit from that of the call.
  class CallTimeout < Error; end

  # The client or the provider was closed before the call.
  class ClientClosed < Error; end
end
