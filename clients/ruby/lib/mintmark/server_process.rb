# frozen_string_literal: true

module Mintmark
  # One process of `mintmark serve` and its pipes.
  class ServerProcess
    LONGEST_ANSWER = 17 * 1024 * 1024
    KEPT_LINES = 20
    INFO = '{"jsonrpc":"2.0","id":0,"method":"system.info"}'

    # The state of a waiting call: the condition variable that wakes it, whether it accepts progress, the progress received, and the response.
    Waiting = Struct.new(:changed, :is_listening, :told, :answer, :is_done)

    attr_reader :pid, :binary

    def initialize(binary, arguments, environment, stderr, notify, hooks)
      @binary, @notify, @hooks = binary, notify, hooks
      # All calls share one condition variable: Ruby 3.1 became 100 times slower under load if every call had its own.
      @mutex, @changed = Mutex.new, ConditionVariable.new
      @waiting, @lines, @last_id = {}, [], 0
      spawn(arguments, environment, stderr)
      @outgoing = Outbox.new(@stdin)
      # A process that has already ended is not detected here; the first call reports it.
      tell(INFO)
      @reader = Thread.new { read }
    end

    def ended? = @mutex.synchronize { @is_ending }

    # Sends a request and waits for its response. Returns nil if the deadline passes.
    # @param progress called with each progress value, in this thread
    # @yield the ID of the request; the block returns the line to send
    def request(deadline, progress = nil)
      id, waiting = register(progress) { |number| yield number }
      done = false
      until done || (deadline && Process.clock_gettime(Process::CLOCK_MONOTONIC) >= deadline)
        told = @mutex.synchronize do
          left = deadline && deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)
          waiting.changed.wait(@mutex, left) unless waiting.is_done || !waiting.told.empty? || (left && left <= 0)
          done = waiting.is_done
          waiting.told.slice!(0..)
        end
        told.each { |value| progress.call(value) }
      end
      raise failure if done && waiting.answer.nil?

      waiting.answer
    ensure
      # The deadline passed, or the thread was interrupted. Cancel the request.
      if id && !done
        @mutex.synchronize { @waiting.delete(id) }
        tell(Wire.cancel(id))
      end
    end

    # Sends a line that has no response. Does nothing if the outbox is closed.
    def tell(line)
      @outgoing.send(line)
    rescue ClosedQueueError
      nil
    end

    # Closes the input. The process finishes the requests that it has received, then exits. It is killed after the grace period. If the process has
    # never responded and no call is waiting, the grace period is at most one second.
    def close(grace)
      @outgoing.close
      grace = [grace, 1].min if @mutex.synchronize { !@has_answered && @waiting.empty? }
      kill unless @reader.join(grace)
      @reader.join
    end

    # In a forked child, closes the pipes. The process belongs to the parent, and exits only after every child has closed its input pipe.
    def abandon
      [@stdin, @stdout, @errors].each(&:close)
      @mutex, @is_ending = Mutex.new, true
      @refusal ||= ProcessEnded.new("The Mintmark process belongs to the program that this one was forked from.")
    end

    # Omits the transferred data.
    def inspect = "#<Mintmark::ServerProcess #{pid}>"

    # Returns the error for a call that failed because the process has ended. Waits for the end of the process.
    def failure
      @reader.join unless Thread.current == @reader
      return @refusal.class.new(@refusal.message) if @refusal

      words = ["The Mintmark process #{how_it_ended} before it responded."]
      words << "Is #{binary} the right program? Set another path with binary: or MINTMARK_BINARY." unless @has_answered || [2, 64, 74].include?(@status&.exitstatus)
      words << "Its arguments are not valid: an option has a wrong value, or #{binary} is older than this client." if @status&.exitstatus == 64
      words << "Its last log lines: #{@lines.join("\n")}" unless @lines.empty?
      ProcessEnded.new(words.join(" "), @status)
    end

    private

    def how_it_ended
      return "ended with an unknown status, because this program called Process.wait itself," unless @status

      @status.signaled? ? "was ended by signal #{@status.termsig}" : "ended with status #{@status.exitstatus}"
    end

    def spawn(arguments, environment, stderr)
      input, @stdin = IO.pipe
      @stdout, output = IO.pipe
      @errors, error_output = IO.pipe
      # Mintmark reads and writes UTF-8 regardless of the locale of this program.
      [@stdin, @stdout, @errors].each { |pipe| pipe.set_encoding(Encoding::UTF_8, Encoding::UTF_8) }
      @pid = Process.spawn(environment, [binary, binary], "serve", *parent, *arguments, in: input, out: output, err: error_output, pgroup: true, close_others: true)
      @log = Thread.new { keep(@errors, stderr) }
    rescue SystemCallError, TypeError, ArgumentError => error
      [@stdin, @stdout, @errors].compact.each(&:close)
      # TypeError and ArgumentError report invalid arguments.
      raise unless error.is_a?(SystemCallError)

      raise BinaryNotFound, "The program #{binary} cannot be started: #{error.message}. Install Mintmark, or build it in its repository " \
                            "(clients/shell/mintmark --version creates .build/mintmark). Then set its path with binary: or MINTMARK_BINARY, or put it on the PATH."
    ensure
      [input, output, error_output].compact.each(&:close)
    end

    # The process exits when this process does, even if another process holds its pipe. If `arguments:` has the same option, that value takes
    # precedence, because the last one counts.
    def parent = RUBY_PLATFORM.include?("linux") ? ["--parent=#{Process.pid}"] : []

    # Holds the mutex only briefly, because many threads call at the same time.
    def register(progress)
      id = @mutex.synchronize { @last_id += 1 }
      # The line is encoded first, so that an invalid call leaves no entry behind.
      line, waiting = yield(id), Waiting.new(@changed, !progress.nil?, [])
      @mutex.synchronize do
        raise ClosedQueueError if @is_ending

        @waiting[id] = waiting
      end
      @outgoing.send(line)
      [id, waiting]
    rescue ClosedQueueError
      @mutex.synchronize { @waiting.delete(id) }
      raise failure
    end

    def keep(errors, stderr)
      errors.each_line do |line|
        @lines << line.chomp
        @lines.shift if @lines.size > KEPT_LINES
        begin
          stderr&.write(line)
        rescue StandardError
          # A failing log destination must not affect calls. Stop writing to it.
          stderr = nil
        end
      end
    rescue IOError
      nil
    ensure
      errors.close
    end

    def read
      while !@refusal && (line = @stdout.gets("\n", LONGEST_ANSWER))
        # A last line without a newline is incomplete and is ignored.
        take(line) if line.end_with?("\n") || line.bytesize >= LONGEST_ANSWER
      end
      @mutex.synchronize { @is_ending = true }
      kill if @refusal
      @outgoing.close
      reap
      @log.join(1)
      @outgoing.discard
      @stdout.close
      settle(@mutex.synchronize { @waiting.keys }, nil)
    end

    def reap
      killer = Thread.new { sleep 10; kill }
      @status = Process.wait2(pid).last
    rescue Errno::ECHILD
      # The application has already waited for the process, so its status is not available.
      nil
    ensure
      killer.kill.join
    end

    # Kills the process group. If the program is a script, its child process holds the same pipes.
    def kill
      # After the process was waited for, its PID can belong to another process.
      Process.kill(:KILL, -pid) unless @status
    rescue Errno::ESRCH, Errno::EPERM
      nil
    end

    def take(line)
      message = JSON.parse(line, freeze: true)
      return refuse(line) unless message.is_a?(Hash) && message["jsonrpc"] == "2.0"
      return @hooks.answer(message) { |answer| tell(answer) } if message["method"] && message.key?("id")
      return tell_of(message) if message["method"]
      return refuse(line) unless message.key?("result") || error?(message["error"])

      @has_answered = true
      return judge(message) if message["id"] == 0

      # The process could not parse a line, so the error has no ID. Every waiting call fails with it.
      has_no_request = message["id"].nil? && message["error"]
      settle(has_no_request ? @mutex.synchronize { @waiting.keys } : [message["id"]], message)
    rescue StandardError
      # If this thread ended, calls would wait forever. Treat every failure as invalid output.
      refuse(line)
    end

    # Handles a notification. Progress goes to the call that it belongs to, every other notification to the listener.
    def tell_of(message)
      method, params = message.values_at("method", "params")
      return @notify.call(method, params) unless method == "$/progress" && params.is_a?(Hash)

      is_of_call = @mutex.synchronize do
        waiting = @waiting[params["token"]]
        next unless waiting&.is_listening

        waiting.told << params["value"]
        waiting.changed.broadcast
        true
      end
      @notify.call(method, params) unless is_of_call
    end

    def error?(error) = error.is_a?(Hash) && error["code"].is_a?(Integer) && error["message"].is_a?(String)

    def refuse(line)
      @refusal = ProtocolError.new("#{binary} does not respond like Mintmark: it wrote #{line[0, 80].inspect}. Is it the right program? Set another path with binary: or MINTMARK_BINARY.")
    end

    def judge(message)
      info = message["result"]
      version = info["version"] if info.is_a?(Hash)
      return unless version.is_a?(String) && Wire.below?(version, CONTRACT_VERSION)

      @refusal = BinaryTooOld.new("#{binary} is Mintmark #{version}, which is older than this client for Mintmark #{CONTRACT_VERSION}. Install a newer program, or set the path of another one with binary: or MINTMARK_BINARY.")
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
