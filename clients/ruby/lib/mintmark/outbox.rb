# frozen_string_literal: true

module Mintmark
  # Writes lines to the pipe of a process in a separate thread, so that callers do not block on a full pipe. Queued lines are written together.
  class Outbox
    def initialize(pipe)
      @pipe, @waiting = pipe, Queue.new
      @writer = Thread.new { drain }
    end

    # @raise [ClosedQueueError] if the outbox is closed
    def send(line)
      @waiting << line
    end

    # Closes the pipe after all queued lines are written.
    def close
      @waiting.close
    end

    # Closes the pipe immediately and discards the queued lines.
    def discard
      @waiting.clear
      @waiting.close
      @writer.join(1) || @writer.kill.join
    end

    private

    def drain
      while (line = @waiting.pop)
        lines = [line]
        # No other thread takes lines out of the queue, but `discard` can clear it between the check and the pop.
        lines << (@waiting.pop or break) until @waiting.empty?
        @pipe.write(lines.join("\n") << "\n")
      end
    rescue SystemCallError, IOError
      @waiting.close
    ensure
      @pipe.close
    end
  end
end
