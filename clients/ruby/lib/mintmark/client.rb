# frozen_string_literal: true

require_relative "record"
require_relative "errors"
require_relative "generated/errors"
require_relative "generated/namespaces"
require_relative "wire"
require_relative "outbox"
require_relative "server_process"
require_relative "fork"

module Mintmark
  # A Mintmark process and its methods: `m.token.mint_for_developer(…)`. Any number of threads may share one.
  class Client
    include Namespaces

    # @param store a file, or ":memory:" for a store that ends with the process.
    # @param app the application whose store is used; exactly one of the two is named.
    # @param testing use a testing store, whose clock can be turned.
    # @param binary the program; without it MINTMARK_BINARY, else mintmark on PATH.
    # @param timeout how many seconds a call may take that does not say so itself.
    # @param restart whether a call starts a new process after one has died; without it unless the store was in memory.
    # @param on_notification called with the method and params of what Mintmark tells by itself, in a thread of its own.
    # @param stderr where the process's log goes; nil drops it.
    # @param max_line the longest request in bytes.
    # @param arguments further arguments of `mintmark serve`.
    # @param environment further environment variables.
    def initialize(store: nil, app: nil, testing: false, binary: nil, timeout: nil, restart: nil, on_notification: nil, stderr: $stderr,
                   max_line: nil, arguments: [], environment: {})
      if store.nil? == app.nil?
        raise ArgumentError, 'Name either a store or an app: store: "shop.db" is a file, store: ":memory:" ends with the process, ' \
                             'app: "shop" is the store of that app in the folder of your data.'
      end
      Wire.check_timeout(timeout)
      @testing, @timeout, @stderr, @max_line, @environment = testing, timeout, stderr, max_line, environment
      @is_in_memory = store == ":memory:"
      @restart = restart.nil? ? !@is_in_memory : restart
      named = ENV["MINTMARK_BINARY"].to_s
      @binary = binary&.to_s || (named.empty? ? "mintmark" : named)
      path = store && (@is_in_memory || store.to_s.include?("://") ? store : File.expand_path(store))
      @arguments = [path && "--store=#{path}", app && "--app=#{app}", testing && "--testing", max_line && "--max-line=#{max_line}"].select { |each| each }
      @arguments += arguments
      @on_notification = on_notification
      begin_here
      @mutex.synchronize { running }
      Fork.tell(self)
    rescue StandardError
      @told&.close
      raise
    end

    # Starts a client, and closes it after the block if there is one.
    def self.start(**options)
      client = new(**options)
      return client unless block_given?

      begin
        yield client
      ensure
        client.close
      end
    end

    # Calls a method by its name on the wire, with its parameters as they are there.
    # @param progress called with what the method says of its progress, in this thread; what it raises ends the call.
    # @return the result as JSON.
    def call(method, params = {}, timeout: nil, trace: nil, progress: nil)
      limit = Wire.check_timeout(timeout || @timeout)
      process = @mutex.synchronize { running }
      answer = process.request(limit && Process.clock_gettime(Process::CLOCK_MONOTONIC) + limit, progress) do |id|
        Wire.request(id, method, params, trace, @max_line || 1 << 20, progress)
      end
      raise CallTimedOut, "#{method} was not answered within #{limit} s. It was cancelled; it may have taken effect nevertheless." unless answer
      raise answered(method, answer) if answer["error"]

      answer["result"]
    end

    # Lets the process answer what it was asked, and end; after `grace` seconds it is killed. Later calls are refused.
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

    # In a forked child: the process stays the parent's, and the next call starts another. Ruby before 3.1 tells of no fork: calls look.
    def after_fork
      return if @owner == Process.pid

      @process&.abandon
      begin_here
    end

    # Shows neither the environment nor the arguments, which may hold secrets.
    def inspect = "#<Mintmark::Client #{@binary}#{' closed' if @is_closed}>"

    private

    def begin_here
      @owner, @told = Process.pid, Queue.new
      @mutex ||= Mutex.new
      @listener = @on_notification && Thread.new(@told) { |told| listen(told, @on_notification) }
    end

    def running
      raise ClientClosed, "This client is closed; start a new one." if @is_closed

      after_fork
      return @process if @process && !@process.ended?

      gone unless @process.nil? || @restart
      environment = {"MINTMARK_STORE" => nil, "MINTMARK_APP" => nil, **@environment}
      @process = ServerProcess.new(@binary, @arguments, environment, @stderr, ->(method, params) { @told << [method, params] if @listener })
    end

    def gone
      error = @process.failure
      raise error unless error.is_a?(ProcessEnded)

      raise ProcessEnded.new("#{error.message} #{@is_in_memory ? 'What was in memory is gone' : 'restart: false forbids a new one'}: start a new client.", error.status)
    end

    def answered(method, answer)
      error = answer["error"]
      known = ERRORS.fetch(error.dig("data", "type"), AnsweredError)
      message = nil
      if known == MethodNotFound && METHODS.key?(method)
        return too_old(method) if !METHODS[method] || @testing

        message = "#{method} is offered by testing processes only: pass testing: true."
      end
      known.new(error, message: message, trace: answer["trace"])
    end

    def too_old(method)
      BinaryTooOld.new("#{@binary} has no method #{method}: it is older than this client, which was made for Mintmark #{CONTRACT_VERSION}. " \
                       "Build or install the newer one; MINTMARK_BINARY or binary: names another.")
    end

    def listen(waiting, callback)
      while (told = waiting.pop)
        begin
          callback.call(*told)
        rescue StandardError => error
          warn "mintmark: on_notification failed: #{error.full_message}"
        end
      end
    end
  end

  # Starts a client: `Mintmark.start(store: "shop.db") { |m| … }`.
  def self.start(**options, &block) = Client.start(**options, &block)

  # Starts a process with a fresh testing store in memory: `Mintmark.testing { |m| … }`.
  def self.testing(**options, &block) = Client.start(store: ":memory:", testing: true, **options, &block)
end
