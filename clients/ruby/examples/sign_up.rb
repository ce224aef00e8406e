# frozen_string_literal: true

# A user signs up with an email address and a one-time code, which a testing store captures instead of sending it.
require "mintmark/testing"

Mintmark.testing(stderr: nil) do |m|
  step = m.sign_up.start(username: "alice@example.com", password: "Correct horse 7 battery")
  until step.is_a?(Mintmark::SignUpStep::Completed)
    case step
    when Mintmark::SignUpStep::CodeRequired
      code = m.test.outbox(to: "alice@example.com").messages.last.code
      step = m.sign_up.submit_code(continuation_token: step.continuation_token, code: code)
    when Mintmark::SignUpStep::AttributesRequired
      step = m.sign_up.submit_attributes(continuation_token: step.continuation_token, attributes: {"city" => "Oslo"})
    else abort "unexpected state: #{step.state}"
    end
  end
  signed_in = m.sign_in.with_continuation(continuation_token: step.continuation_token)
  puts "#{step.account_id} is signed in until #{signed_in.expires_at}"
rescue Mintmark::InvalidCode, Mintmark::InvalidPassword => error
  abort error.message
end
