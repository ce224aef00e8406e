# frozen_string_literal: true

module Mintmark
  # Detects forks. A child must not use the pipes of its parent's process, and the threads that serve them exist only in the parent.
  module Fork
    CLIENTS = ObjectSpace::WeakMap.new
    private_constant :CLIENTS

    # Registers a client. Its `after_fork` is called in every forked child while the client exists.
    def self.tell(client) = CLIENTS[client] = true

    def self.happened
      # An incomplete sweep of Ruby 3.1 can leave clients in the map whose members were collected.
      GC.start
      CLIENTS.keys.each(&:after_fork)
    end

    # Ruby 3.1 and later call this method for every fork except Process.daemon.
    module Hook
      def _fork = super.tap { |pid| Fork.happened if pid.zero? }
    end
    Process.singleton_class.prepend(Hook) if Process.respond_to?(:_fork)
  end
end
