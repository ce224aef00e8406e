# frozen_string_literal: true

module Mintmark
  # The writing end of a process's pipe. A thread writes, so that no caller waits for a full pipe; what has come together goes out together.
  class Outbox
    def initialize(pipe)
      @pipe, @waiting = pipe, Queue.new
      @writer = Thread.new { drain }
    end

    # @raise ClosedQueueError if nobody will read the line.
    def send(line)
      @waiting << line
    end

    # Closes the pipe once everything is written.
    def close
      @waiting.close
    end

    # Closes the pipe at once: nobody reads any more.
    def discard
      @waiting.clear
      @waiting.close
      @writer.join(1) || @writer.kill.join
    end

    private

    def drain
      while (line = @waiting.pop)
        lines = [line]
        # This thread alone takes lines out, so that one that is there can be taken; `discard` may be faster.
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
