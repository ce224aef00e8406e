# frozen_string_literal: true

module Mintmark
  # What a forked child must not share with its parent: the pipes of a process, and the threads behind them, which only the parent has.
  module Fork
    CLIENTS = ObjectSpace::WeakMap.new
    private_constant :CLIENTS

    # Has `client.after_fork` called in every child that is forked while `client` lives.
    def self.tell(client) = CLIENTS[client] = true

    def self.happened = CLIENTS.keys.each(&:after_fork)

    # Ruby 3.1 and later call this for every fork but that of Process.daemon.
    module Hook
      def _fork = super.tap { |pid| Fork.happened if pid.zero? }
    end
    Process.singleton_class.prepend(Hook) if Process.respond_to?(:_fork)
  end
end
