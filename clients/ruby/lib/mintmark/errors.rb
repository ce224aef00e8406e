# frozen_string_literal: true

module Mintmark
  # The base of everything this client raises, wrong arguments aside.
  class Error < StandardError; end

  # Mintmark answered with an error. A type that this client does not know is an AnsweredError itself.
  class AnsweredError < Error
    # @return the number, the stable name, the details as they were answered, and the trace of the call.
    attr_reader :code, :type, :data, :trace

    def initialize(error, message: nil, trace: nil)
      super(message || error["message"])
      @code, @data, @trace = error["code"], error["data"] || {}, trace
      @type = @data["type"]
    end

    # @return after how many seconds the same call may succeed, of an error that may go away by itself.
    def retry_after_seconds = data["retryAfterSeconds"]
  end

  # The program is not where it was looked for, or cannot be run.
  class BinaryNotFound < Error; end

  # The program is older than this client, or lacks one of its methods.
  class BinaryTooOld < Error; end

  # What came out of the pipe is not what Mintmark writes; the process was ended.
  class ProtocolError < Error; end

  # The process ended before it answered. Whether what was asked for has been done is not known.
  class ProcessEnded < Error
    # @return [Process::Status, nil] how it ended.
    attr_reader :status

    def initialize(message, status = nil)
      super(message)
      @status = status
    end
  end

  # No answer came in time. The call was cancelled; it may have taken effect nevertheless.
  class CallTimedOut < Error; end

  # `close` was called before.
  class ClientClosed < Error; end
end
