# frozen_string_literal: true

module Mintmark
  # Keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed, the block is called with the
  # logins and the identity's id, if one is kept; it gives what the backend got from `token.mint_for_developer`. What it raises, the call raises.
  # Any number of threads may share a provider; the backend is asked once for all that wait.
  class CredentialsProvider
    # @param options those of `credentials_provider.open`.
    def initialize(client, pool_id:, **options, &on_token_required)
      raise ArgumentError, "A CredentialsProvider takes a block that gives tokens." unless on_token_required

      @client, @on_token_required = client, on_token_required
      @options = {**options, pool_id: pool_id, token_source: "caller"}
      @opening, @asking = Mutex.new, Mutex.new
    end

    # Credentials that are good for a while, with identity_id and role_arn. `refresh` renews them in any case.
    def get(refresh: false) = ready { |methods, handle, first| methods.get(provider: handle, **(refresh && first ? {refresh: true} : {})) }

    # The id of the identity.
    def identity_id = ready { |methods, handle| methods.identity_id(provider: handle) }.identity_id

    # Says who the user is now. The identity is kept, and may become another one that the logins own.
    def set_logins(logins)
      @opening.synchronize { @options[:logins] = logins }
      perform { |methods, handle| methods.set_logins(provider: handle, logins: logins) }
      nil
    end

    # Drops the credentials and keeps the identity.
    def clear_credentials
      perform { |methods, handle| methods.clear_credentials(provider: handle) }
      nil
    end

    # Drops everything: credentials, identity and logins. For a sign-out, and for another user.
    def clear_keychain
      @opening.synchronize { @options.delete(:logins) }
      perform { |methods, handle| methods.clear_keychain(provider: handle) }
      nil
    end

    # What it holds in memory is gone; the identity's id stays in the store under its key.
    def close
      handle = @opening.synchronize do
        was_closed, @is_closed = @is_closed, true
        was_closed ? nil : @handle
      end
      @client.credentials_provider.close(provider: handle) if handle
      nil
    rescue ProviderNotOpen
      # Its process was started anew: there is nothing to close.
      nil
    end

    # Shows neither logins nor tokens.
    def inspect = "#<Mintmark::CredentialsProvider>"

    private

    def ready
      answer = perform { |methods, handle| yield methods, handle, true }
      return answer unless answer.state == "tokenRequired"

      @asking.synchronize do
        # Whoever waited here may find it done.
        answer = perform { |methods, handle| yield methods, handle, false }
        return answer unless answer.state == "tokenRequired"

        identity_id, token = taken(@on_token_required.call(answer.logins || {}, answer.identity_id))
        @client.credentials_provider.submit_token(continuation_token: answer.continuation_token, identity_id: identity_id, token: token)
      end
    end

    # Of what a backend gives: a result, or the same as a hash or as JSON.
    def taken(given)
      found = if given.is_a?(Hash) then [given[:identity_id] || given["identity_id"] || given["identityId"], given[:token] || given["token"]]
              elsif given.respond_to?(:identity_id) && given.respond_to?(:token) then [given.identity_id, given.token]
              end
      return found if found&.all?

      raise TypeError, "The block of a CredentialsProvider gives identity_id and token, as token.mint_for_developer answered them; it gave a #{given.class}."
    end

    def perform
      handle = open(nil)
      yield @client.credentials_provider, handle
    rescue ProviderNotOpen
      raise if @is_closed

      # A process that was started anew does not know it.
      yield @client.credentials_provider, open(handle)
    end

    def open(instead_of)
      @opening.synchronize do
        @handle = nil if instead_of && @handle == instead_of
        raise ClientClosed, "This CredentialsProvider is closed; make a new one." if @is_closed && @handle.nil?

        @handle ||= @client.credentials_provider.open(**@options).provider
      end
    end
  end
end
