# frozen_string_literal: true

module Mintmark
  # Provides valid temporary credentials of one user and renews them when necessary. If the application's backend must issue a token, the block is
  # called with the logins and the identity ID (nil if there is none). It returns the result of `token.mint_for_developer`. If the block raises, the
  # call raises the same error. Safe for use by multiple threads; the block is called once for all waiting threads.
  class CredentialsProvider
    # @param options the options of `credentials_provider.open`
    def initialize(client, pool_id:, **options, &on_token_required)
      raise ArgumentError, "A CredentialsProvider requires a block that returns tokens." unless on_token_required

      @client, @on_token_required = client, on_token_required
      @options = {**options, pool_id: pool_id, token_source: "caller"}
      @opening, @asking = Mutex.new, Mutex.new
    end

    # Returns valid credentials, with identity_id and role_arn. `refresh: true` renews them even if they are still valid.
    def get(refresh: false) = ready { |methods, handle, first| methods.get(provider: handle, **(refresh && first ? {refresh: true} : {})) }

    # Returns the ID of the identity.
    def identity_id = ready { |methods, handle| methods.identity_id(provider: handle) }.identity_id

    # Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity.
    def set_logins(logins)
      @opening.synchronize { @options[:logins] = logins }
      perform { |methods, handle| methods.set_logins(provider: handle, logins: logins) }
      nil
    end

    # Discards the credentials and keeps the identity.
    def clear_credentials
      perform { |methods, handle| methods.clear_credentials(provider: handle) }
      nil
    end

    # Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in.
    def clear_keychain
      @opening.synchronize { @options.delete(:logins) }
      perform { |methods, handle| methods.clear_keychain(provider: handle) }
      nil
    end

    # Closes the provider and discards its data in memory. The store keeps the identity ID under the provider's key.
    def close
      handle = @opening.synchronize do
        was_closed, @is_closed = @is_closed, true
        was_closed ? nil : @handle
      end
      @client.credentials_provider.close(provider: handle) if handle
      nil
    rescue ProviderNotOpen
      # The process was restarted and no longer has the provider.
      nil
    end

    # Omits logins and tokens.
    def inspect = "#<Mintmark::CredentialsProvider>"

    private

    def ready
      answer = perform { |methods, handle| yield methods, handle, true }
      return answer unless answer.state == "tokenRequired"

      @asking.synchronize do
        # Another thread may have submitted a token while this one waited for the lock.
        answer = perform { |methods, handle| yield methods, handle, false }
        return answer unless answer.state == "tokenRequired"

        identity_id, token = taken(@on_token_required.call(answer.logins || {}, answer.identity_id))
        @client.credentials_provider.submit_token(continuation_token: answer.continuation_token, identity_id: identity_id, token: token)
      end
    end

    # Extracts the identity ID and the token from the return value of the block: a result, or a hash with names in snake case or as in JSON.
    def taken(given)
      found = if given.is_a?(Hash) then [given[:identity_id] || given["identity_id"] || given["identityId"], given[:token] || given["token"]]
              elsif given.respond_to?(:identity_id) && given.respond_to?(:token) then [given.identity_id, given.token]
              end
      return found if found&.all?

      raise TypeError, "The block of a CredentialsProvider must return identity_id and token, as token.mint_for_developer does; it returned a #{given.class}."
    end

    def perform
      handle = open(nil)
      yield @client.credentials_provider, handle
    rescue ProviderNotOpen
      raise if @is_closed

      # The process was restarted and does not have the handle. Open the provider again and retry once.
      yield @client.credentials_provider, open(handle)
    end

    def open(instead_of)
      @opening.synchronize do
        @handle = nil if instead_of && @handle == instead_of
        raise ClientClosed, "This CredentialsProvider is closed. Create a new one." if @is_closed && @handle.nil?

        @handle ||= @client.credentials_provider.open(**@options).provider
      end
    end
  end
end
