# frozen_string_literal: true

require_relative "errors"

module Mintmark
  # Raise it in a hook to refuse the operation. The caller gets {RefusedByHook} with the reason.
  class HookRefused < Error
    alias reason message
  end

  # The question to a hook. Members that the hook does not have are nil.
  class HookRequest
    # @return [String] the name of the hook, such as `beforeSignIn`
    attr_reader :hook
    # @return [Hash] the whole question as JSON
    attr_reader :params

    def initialize(hook, params)
      @hook, @params = hook, params
    end

    # @return [String] the tenant of the account or message
    def tenant_id = params["tenantId"]

    # @return [Account, nil] the account as it will be stored
    def account = params["account"] && Account.new(params["account"])

    # @return [String, nil] the method that asks, such as `signIn.withPassword`
    def method_name = params["method"]

    # @return [String, nil] how the user signs in: `password`, `code`, `passkey`, `anonymous`, `custom`, or the ID of an identity provider
    def provider = params["provider"]

    # @return [Array<String>] the authentication methods of the session
    def amr = params["amr"] || []

    # @return [Boolean] whether the sign-in completes a sign-up or creates the account
    def new_account? = params["isNewAccount"] == true

    # @return [String, nil] the kind of the second factor that was verified
    def second_factor = params["secondFactor"]

    # @return [Hash, nil] the message of `before_send_message`: `channel`, `to`, `purpose`, `language` and `secondFactor`
    def message = params["message"]

    def inspect = "#<Mintmark::HookRequest #{hook} of #{tenant_id}>"
  end

  # The functions that answer hooks.
  class HookFunctions
    NAMES = {before_create: "beforeCreate", before_sign_in: "beforeSignIn", before_send_message: "beforeSendMessage"}.freeze
    ANSWERS = {display_name: "displayName", photo_url: "photoUrl", email_verified: "emailVerified", session_claims: "sessionClaims"}.freeze

    def initialize(**given)
      @functions = given.compact.to_h do |name, function|
        raise ArgumentError, "#{name} is a lambda or another object with the method call, not a #{function.class}" unless function.respond_to?(:call)

        [NAMES.fetch(name), function]
      end
    end

    def names = @functions.keys

    # Answers a request of the process in a thread of its own, so that a hook can call the client and take its time.
    def answer(message, &send)
      Thread.new do
        outcome = decide(message)
        begin
          text = JSON.generate({"jsonrpc" => "2.0", "id" => message["id"], **outcome})
        rescue JSON::GeneratorError => error
          text = JSON.generate({"jsonrpc" => "2.0", "id" => message["id"], **failure("the answer of the hook has no JSON: #{error.message}")})
        end
        send.call(text)
      end
    end

    private

    def decide(message)
      name = message["method"].delete_prefix("hook/")
      function = @functions[name]
      return {"error" => {"code" => -32601, "message" => "This client has no function for #{message['method']}."}} unless function

      {"result" => json(function.call(HookRequest.new(name, message["params"])))}
    rescue HookRefused => refusal
      {"result" => {"refuse" => refusal.reason}}
    rescue StandardError => error
      failure(error.message)
    end

    def json(answer)
      return if answer.nil?
      raise TypeError, "a hook returns a hash or nil, not a #{answer.class}" unless answer.is_a?(Hash)

      Wire.plain(answer.to_h { |name, value| [ANSWERS.fetch(name.to_sym, name.to_s), value] }, "hook", 1)
    end

    def failure(words) = {"error" => {"code" => -32603, "message" => words}}
  end
end
