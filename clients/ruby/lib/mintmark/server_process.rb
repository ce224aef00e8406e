# frozen_string_literal: true

module Mintmark
  # One running `mintmark serve` and its pipe, from start to end. A thread writes, so that no caller waits for a full pipe; one reads.
  class ServerProcess
    LONGEST_ANSWER = 17 * 1024 * 1024
    KEPT_LINES = 20
    INFO = '{"jsonrpc":"2.0","id":0,"method":"system.info"}'

    # A call that waits: nil until it has an outcome.
    Waiting = Struct.new(:answer, :is_done)

    attr_reader :pid, :binary

    def initialize(binary, arguments, environment, stderr, notify)
      @binary, @notify = binary, notify
      @mutex, @changed = Mutex.new, ConditionVariable.new
      @waiting, @lines, @last_id = {}, [], 0
      @outgoing = Queue.new
      spawn(arguments, environment, stderr)
      @outgoing << INFO
      @writer = Thread.new { write }
      @reader = Thread.new { read }
    end

    def ended? = @mutex.synchronize { @is_ending }

    # Sends a request and waits for its answer, a message; nil when time is up.
    # @yield the id, to make the line of it.
    def request(deadline)
      id, waiting = register { |number| yield number }
      done = false
      @mutex.synchronize do
        until waiting.is_done
          left = deadline && deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)
          break if left && left <= 0

          @changed.wait(@mutex, left)
        end
        done = waiting.is_done
      end
      raise failure if done && waiting.answer.nil?

      waiting.answer
    ensure
      # Time is up, or the thread was interrupted: nobody waits any more.
      if id && !done
        @mutex.synchronize { @waiting.delete(id) }
        @outgoing << Wire.cancel(id) unless @outgoing.closed?
      end
    end

    # Ends the input: what was sent is answered, then the process ends. It is killed when that takes too long.
    def close(grace)
      @outgoing.close
      Process.kill(:KILL, pid) unless @reader.join(grace)
      @reader.join
    rescue Errno::ESRCH
      @reader.join
    end

    # How it ended, for one call; waits until it has.
    def failure
      @reader.join unless Thread.current == @reader
      return @refusal.class.new(@refusal.message) if @refusal

      how = @status&.signaled? ? "was ended by signal #{@status.termsig}" : "ended with status #{@status&.exitstatus}"
      words = ["The Mintmark process #{how} before it answered."]
      words << "It refused its arguments: an option has a value it does not take, or #{binary} is older than this client." if @status&.exitstatus == 64
      words << "Its last words: #{@lines.join("\n")}" unless @lines.empty?
      ProcessEnded.new(words.join(" "), @status)
    end

    private

    def spawn(arguments, environment, stderr)
      input, @stdin = IO.pipe
      @stdout, output = IO.pipe
      errors, error_output = IO.pipe
      @pid = Process.spawn(environment, [binary, binary], "serve", *arguments, in: input, out: output, err: error_output, pgroup: true, close_others: true)
      @log = Thread.new { keep(errors, stderr) }
    rescue SystemCallError => error
      [@stdin, @stdout, errors].each(&:close)
      raise BinaryNotFound, "There is no program #{binary} that can be run: #{error.message}. Build it in Mintmark's repository (clients/shell/mintmark --version makes " \
                            ".build/mintmark) and name it: binary:, export MINTMARK_BINARY=$PWD/.build/mintmark, or put it on PATH."
    ensure
      [input, output, error_output].each(&:close)
    end

    def register
      @mutex.synchronize do
        raise ClosedQueueError if @is_ending

        # The line is made first: what is refused leaves nothing behind.
        line = yield(@last_id += 1)
        @outgoing << line
        [@last_id, @waiting[@last_id] = Waiting.new]
      end
    rescue ClosedQueueError
      raise failure
    end

    def write
      while (line = @outgoing.pop)
        @stdin.write(line, "\n")
      end
    rescue SystemCallError, IOError
      @outgoing.close
    ensure
      @stdin.close
    end

    def keep(errors, stderr)
      errors.each_line do |line|
        stderr&.write(line)
        @lines << line.chomp
        @lines.shift if @lines.size > KEPT_LINES
      end
    rescue IOError
      nil
    ensure
      errors.close
    end

    def read
      while !@refusal && (line = @stdout.gets("\n", LONGEST_ANSWER))
        take(line)
      end
      @mutex.synchronize { @is_ending = true }
      Process.kill(:KILL, pid) if @refusal
      @outgoing.close
      reap
      @log.join(1)
      @writer.join(1) || @writer.kill
      @stdout.close
      settle(@mutex.synchronize { @waiting.keys }, nil)
    end

    def reap
      killer = Thread.new { sleep 10; Process.kill(:KILL, pid) }
      @status = Process.wait2(pid).last
    ensure
      killer.kill
    end

    def take(line)
      message = JSON.parse(line)
      return refuse(line) unless message.is_a?(Hash) && message["jsonrpc"] == "2.0"
      return @notify.call(message["method"], message["params"]) if message["method"]
      return judge(message) if message["id"] == 0

      settle(message["id"] ? [message["id"]] : @mutex.synchronize { @waiting.keys }, message)
    rescue JSON::ParserError, EncodingError
      refuse(line)
    end

    def refuse(line)
      @refusal = ProtocolError.new("#{binary} does not answer as Mintmark does: it wrote #{line[0, 80].inspect}. Is it the right program? MINTMARK_BINARY or binary: names another.")
    end

    def judge(message)
      version = message.dig("result", "version")
      return unless version.is_a?(String) && Wire.below?(version, CONTRACT_VERSION)

      @refusal = BinaryTooOld.new("#{binary} is Mintmark #{version}, older than this client, which was made for #{CONTRACT_VERSION}. Build or install the newer one; MINTMARK_BINARY or binary: names another.")
    end

    def settle(ids, message)
      @mutex.synchronize do
        ids.each do |id|
          waiting = @waiting.delete(id) or next
          waiting.answer, waiting.is_done = message, true
        end
        @changed.broadcast
      end
    end
  end
end
