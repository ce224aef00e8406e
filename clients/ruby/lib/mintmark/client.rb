# frozen_string_literal: true

require_relative "record"
require_relative "errors"
require_relative "generated/contract"
require_relative "generated/records"
require_relative "generated/errors"
require_relative "generated/namespaces"
require_relative "generated/options"
require_relative "command_line"
require_relative "wire"
require_relative "outbox"
require_relative "hooks"
require_relative "server_process"
require_relative "fork"

module Mintmark
  # A Mintmark process and its methods: `m.token.mint_for_developer(…)`. Safe for use by multiple threads.
  class Client
    include Namespaces

    # Starts a process. Exactly one of `store:` and `app:` is required, unless the environment names a store. The options of `mintmark serve` are described in {OPTIONS}.
    #
    # @param store [String, nil] the path of the database file, ":memory:" for a store that is discarded when the process ends, or the URL of a
    # database. Without `store:` and `app:`, the variable MINTMARK_STORE or MINTMARK_APP names the store, as in the commands of `mintmark run`.
    # @param app [String, nil] the name of the application whose store is used
    # @param binary [String, nil] the program. Defaults to the environment variable MINTMARK_BINARY, then to mintmark on the PATH.
    # @param timeout [Numeric, nil] the time limit, in seconds, of calls that do not set their own
    # @param restart [Boolean, nil] whether a call starts a new process after one has ended. Defaults to true unless the store is in memory.
    # @param on_notification [#call, nil] called with the method and the params of each notification, in its own thread
    # @param before_create [#call, nil] called with a {HookRequest} before an account is stored that a user creates. Like the next two, it returns nil
    # or a hash with `display_name:`, `photo_url:`, `email_verified:`, `claims:` or `disabled:`, or raises {HookRefused}, within 7 seconds.
    # `m.hooks.set` switches hooks on for a tenant.
    # @param before_sign_in [#call, nil] called before a session is stored; the hash can also have `session_claims:`
    # @param before_send_message [#call, nil] called before a message with a code is sent
    # @param stderr [#write, nil] the destination of the log of the process; nil discards it
    # @param arguments [Array<String>] additional arguments of `mintmark serve`
    # @param environment [Hash{String => String, nil}] additional environment variables; nil removes a variable
    # @param options [Hash] the other options of `mintmark serve`, such as `max_line_bytes: 4 << 20`
    def initialize(store: nil, app: nil, binary: nil, timeout: nil, restart: nil, on_notification: nil, stderr: $stderr, arguments: [], environment: {},
                   before_create: nil, before_sign_in: nil, before_send_message: nil, **options)
      given = CommandLine.arguments(options)   # A misspelled `store:` is reported as an unknown keyword.
      store, app = CommandLine.place if store.nil? && app.nil?
      if store.nil? == app.nil?
        raise ArgumentError, 'Set either a store or an app: store: "shop.db" is a file, store: ":memory:" ends with the process, ' \
                             'app: "shop" is the store of that app in the folder of your data. ' \
                             'MINTMARK_STORE and MINTMARK_APP name one, too.'
      end
      Wire.check_timeout(timeout)
      @timeout, @stderr, @environment = timeout, stderr, environment
      @testing, @max_line = options[:testing], options[:max_line_bytes]
      @is_in_memory = store == ":memory:"
      @restart = restart.nil? ? !@is_in_memory : restart
      named = ENV["MINTMARK_BINARY"].to_s
      @binary = binary&.to_s || (named.empty? ? "mintmark" : named)
      path = store && (@is_in_memory || store.to_s.include?("://") ? store : File.expand_path(store))
      @arguments = CommandLine.arguments({store: path, app: app}) + given + arguments
      @on_notification = on_notification
      @hook_functions = HookFunctions.new(before_create: before_create, before_sign_in: before_sign_in, before_send_message: before_send_message)
      begin_here
      @mutex.synchronize { running }
      Fork.tell(self)
    rescue StandardError
      @told&.close
      raise
    end

    # Starts a client. With a block, yields the client and closes it after the block.
    def self.start(**options)
      client = new(**options)
      return client unless block_given?

      begin
        yield client
      ensure
        client.close
      end
    end

    # Calls a method by its name in the contract, with the parameter names of the contract.
    #
    # @param method [String]
    # @param params [Hash]
    # @param timeout [Numeric, nil] the time limit in seconds
    # @param trace [String, nil] the trace, at most 128 characters, which is written to the logs and audit records of this call
    # @param progress [#call, nil] called with each progress value of the method, in this thread. If it raises, the call is canceled.
    # @return [Record] the result. The result of a method that this client does not know has no readers, only {Record#[]}.
    def call(method, params = {}, timeout: nil, trace: nil, progress: nil)
      limit = Wire.check_timeout(timeout || @timeout)
      process = @mutex.synchronize { running }
      answer = process.request(limit && Process.clock_gettime(Process::CLOCK_MONOTONIC) + limit, reporting(method, progress)) do |id|
        Wire.request(id, method, params, trace, @max_line || 1 << 20, progress)
      end
      raise CallTimeout, "#{method} was not answered within #{limit} s. It was canceled, but may have taken effect." unless answer
      raise answered(method, answer) if answer["error"]

      type = METHODS[method]
      result(type && Mintmark.const_defined?(type, false) ? Mintmark.const_get(type, false) : Record, answer["result"]) do |cursor|
        call(method, {**params.transform_keys(&:to_s), "cursor" => cursor}, timeout: timeout, trace: trace)
      end
    end

    # Lets the process finish the requests that it has received, then waits for its exit. Kills it after `grace` seconds. Later calls fail with
    # {ClientClosed}.
    def close(grace: 10)
      process = @mutex.synchronize do
        after_fork
        @is_closed = true
        @process
      end
      process&.close(grace)
      @told.close
      @listener&.join(1) unless Thread.current == @listener
      nil
    end

    # In a forked child, gives up the process, which belongs to the parent. The next call starts a new process. Ruby before 3.1 has no fork hook, so
    # every call checks for a fork.
    def after_fork
      return if @owner == Process.pid

      @process&.abandon
      begin_here
    end

    # Omits the environment and the arguments, which can contain secrets.
    def inspect = "#<Mintmark::Client #{@binary}#{' closed' if @is_closed}>"

    private

    def result(type, value, &more)
      return Record.of(value) unless type < Record && value.is_a?(Hash)

      type < List ? type.new(value, more) : type.new(value)
    end

    def reporting(method, progress)
      progress && ->(value) { progress.call(PROGRESS.key?(method) ? Record.convert(value, PROGRESS[method]) : Record.of(value)) }
    end

    def begin_here
      @owner, @told = Process.pid, Queue.new
      @mutex ||= Mutex.new
      @listener = @on_notification && Thread.new(@told) { |told| listen(told, @on_notification) }
    end

    def running
      raise ClientClosed, "This client is closed. Create a new one." if @is_closed

      after_fork
      return @process if @process && !@process.ended?

      gone unless @process.nil? || @restart
      environment = {"MINTMARK_STORE" => nil, "MINTMARK_APP" => nil, **@environment}
      @process = ServerProcess.new(@binary, @arguments, environment, @stderr, ->(method, params) { @told << [method, params] if @listener }, @hook_functions)
      offer unless @hook_functions.names.empty?
      @process
    end

    # Offers the hooks to a new process, before it gets any other request.
    def offer
      answer = @process.request(nil) { |id| Wire.request(id, "hooks.offer", {"hooks" => @hook_functions.names}, nil, 1 << 20) }
      return unless answer && answer["error"]

      @process.close(10)
      raise answered("hooks.offer", answer)
    rescue ProcessEnded, ProtocolError, BinaryTooOld
      # The call for which the process was started reports the reason.
      nil
    end

    def gone
      error = @process.failure
      raise error unless error.is_a?(ProcessEnded)

      raise ProcessEnded.new("#{error.message} #{@is_in_memory ? 'The store in memory is lost' : 'restart: false forbids a new process'}. Start a new client.", error.status)
    end

    def answered(method, answer)
      error = answer["error"]
      known = ERRORS.fetch(error.dig("data", "type"), APIError)
      message = nil
      if known == MethodNotFound && METHODS.key?(method)
        return too_old(method) if !method.start_with?("test.") || @testing

        message = "#{method} is offered by testing processes only: pass testing: true."
      end
      known.new(error, message: message, trace: answer["trace"], method_name: method)
    end

    def too_old(method)
      BinaryTooOld.new("#{@binary} does not have the method #{method}. It is older than this client for Mintmark #{CONTRACT_VERSION}. " \
                       "Install a newer program, or set the path of another one with binary: or MINTMARK_BINARY.")
    end

    def listen(waiting, callback)
      while (told = waiting.pop)
        begin
          method, params = told
          callback.call(method, NOTIFICATIONS.key?(method) ? Record.convert(params, NOTIFICATIONS[method]) : Record.of(params))
        rescue StandardError => error
          warn "mintmark: on_notification failed: #{error.full_message}"
        end
      end
    end
  end

  # Starts a client: `Mintmark.start(store: "shop.db") { |m| … }`.
  def self.start(**options, &block) = Client.start(**options, &block)
end
