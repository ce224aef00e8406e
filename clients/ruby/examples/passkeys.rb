# frozen_string_literal: true

# Serves a page with passkeys: ruby passkeys.rb clients/passkeys/page.html
require "json"
require "mintmark/testing"
require "socket"
require "uri"

# The methods that the page may call. A real application keeps the tokens in a session of its own.
METHODS = %w[
  signUp.start signUp.submitCode signIn.withContinuation signIn.withCredential account.reauthenticate
  passkey.startRegistration passkey.finishRegistration passkey.startAuthentication passkey.list passkey.delete
].freeze

def answer(m, verb, target, body)
  url = URI(target)
  return [200, "text/html; charset=utf-8", File.read(ARGV[0])] if verb == "GET" && url.path == "/"

  if verb == "GET" && url.path == "/code"
    to = URI.decode_www_form(url.query).assoc("to").last
    return [200, "application/json", JSON.generate(code: m.test.outbox(to: to).messages.last.code)]
  end
  method = url.path[1..]
  return [404, "application/json", JSON.generate(message: "not allowed")] unless verb == "POST" && METHODS.include?(method)

  [200, "application/json", JSON.generate(m.call(method, JSON.parse(body)).to_h)]
rescue Mintmark::APIError => error
  [400, "application/json", JSON.generate(type: error.type, message: error.message, data: error.data)]
end

def serve(m, connection)
  verb, target = connection.gets.to_s.split
  length = 0
  while (line = connection.gets&.chomp) && !line.empty?
    length = line[/\d+/].to_i if line.downcase.start_with?("content-length:")
  end
  return unless verb

  status, type, text = answer(m, verb, target, connection.read(length))
  connection.write("HTTP/1.1 #{status} #{status}\r\ncontent-type: #{type}\r\ncontent-length: #{text.bytesize}\r\nconnection: close\r\n\r\n", text)
ensure
  connection.close
end

server = TCPServer.new("127.0.0.1", 0)
origin = "http://localhost:#{server.addr[1]}"
Mintmark.testing(stderr: nil) do |m|
  passkeys = {"relyingPartyId" => "localhost", "origins" => [origin], "residentKey" => "preferred"}
  m.call("tenant.update", {"tenantId" => "default", "localAccountMethod" => "passkey", "passkeys" => passkeys})
  $stdout.puts(origin)
  $stdout.flush
  loop { Thread.new(server.accept) { |connection| serve(m, connection) } }
rescue Interrupt, SignalException
  nil
end
