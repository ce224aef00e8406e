# frozen_string_literal: true

# The identity provider for tests of a service, with a service that verifies tokens with the openssl library of Ruby.
require "base64"
require "json"
require "openssl"
require "socket"

# A service that signs users in at one issuer, and whose API trusts access tokens of this issuer.
class SmallService
  attr_reader :url

  def initialize(idp, response_mode = nil)
    @idp, @response_mode, @users = idp, response_mode, {}
    @server = TCPServer.new("127.0.0.1", 0)
    @url = "http://127.0.0.1:#{@server.addr[1]}"
    @thread = Thread.new { loop { serve(@server.accept) } }
  end

  def close
    @thread.kill.join
    @server.close
  end

  def orders(token) = Net::HTTP.get_response(URI("#{url}/orders"), {"Authorization" => "Bearer #{token}"}).body

  private

  def serve(socket)
    method, target = socket.gets.split
    headers = {}
    while (line = socket.gets.chomp) != ""
      name, value = line.split(": ", 2)
      headers[name.downcase] = value
    end
    body = socket.read(headers["content-length"].to_i)
    uri = URI(target)
    status, more, text = answer(uri.path, URI.decode_www_form(method == "POST" ? body : uri.query.to_s).to_h, headers)
    socket.write("HTTP/1.1 #{status} X\r\nConnection: close\r\nContent-Length: #{text.bytesize}\r\n#{more.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n#{text}")
  ensure
    socket.close
  end

  def answer(path, given, headers)
    session = headers["cookie"].to_s[/session=(\w+)/, 1]
    case path
    when "/login"
      query = {client_id: "shop", response_type: "code", redirect_uri: "#{url}/back", scope: "openid email", state: "s1", response_mode: @response_mode}.compact
      [302, {"Location" => "#{discovery["authorization_endpoint"]}?#{URI.encode_www_form(query)}", "Set-Cookie" => "session=s1; Path=/"}, ""]
    when "/back"
      return [400, {}, "wrong state"] unless session && given["state"] == session
      form = {"grant_type" => "authorization_code", "code" => given["code"], "redirect_uri" => "#{url}/back", "client_id" => "shop"}
      @users[session] = verify(JSON.parse(Net::HTTP.post_form(URI(discovery["token_endpoint"]), form).body)["id_token"], "shop")["email"]
      [303, {"Location" => "/me"}, ""]
    when "/me" then @users[session] ? [200, {}, @users[session]] : [401, {}, "not signed in"]
    else [200, {}, verify(headers["authorization"].delete_prefix("Bearer "), @idp.audience)["sub"]]
    end
  rescue RuntimeError => error
    [401, {}, error.message]
  end

  def discovery = JSON.parse(Net::HTTP.get(URI(@idp.discovery_url)))

  def verify(token, audience)
    header, payload, signature = token.split(".").map { |part| Base64.urlsafe_decode64(part) }
    jwk = JSON.parse(Net::HTTP.get(URI(@idp.jwks_url)))["keys"].find { |key| key["kid"] == JSON.parse(header)["kid"] && key["alg"] == "ES256" }
    raise "unknown key" unless jwk
    point = "\x04".b + Base64.urlsafe_decode64(jwk["x"]) + Base64.urlsafe_decode64(jwk["y"])
    kind = OpenSSL::ASN1::Sequence([OpenSSL::ASN1::ObjectId("id-ecPublicKey"), OpenSSL::ASN1::ObjectId("prime256v1")])
    key = OpenSSL::PKey.read(OpenSSL::ASN1::Sequence([kind, OpenSSL::ASN1::BitString(point)]).to_der)
    numbers = [signature[0, 32], signature[32, 32]].map { |half| OpenSSL::ASN1::Integer(OpenSSL::BN.new(half, 2)) }
    raise "wrong signature" unless key.verify("SHA256", OpenSSL::ASN1::Sequence(numbers).to_der, token[/\A[^.]*\.[^.]*/])
    claims = JSON.parse(payload)
    raise "wrong issuer" unless claims["iss"] == @idp.issuer
    raise "wrong audience" unless claims["aud"] == audience
    raise "expired" unless claims["exp"] > Time.now.to_i
    claims
  end
end

def with_service(response_mode = nil)
  Mintmark.testing(stderr: nil) do |m|
    idp = Mintmark::IdentityProvider.new(m)
    service = SmallService.new(idp, response_mode)
    yield m, idp, service
  ensure
    service&.close
  end
end

test "a service accepts only valid tokens of the identity provider" do
  with_service do |_, idp, service|
    {idp.token => "test-user", idp.token("alice") => "alice", idp.expired => "expired", idp.foreign => "unknown key",
     idp.token(audience: "billing") => "wrong audience", idp.token(key_state: "wrong") => "wrong signature"}.each do |token, said|
      assert service.orders(token) == said, "not #{said}: #{service.orders(token)}"
    end
  end
end

test "the clock of Mintmark does not move the clock of the service, and an expired token has expired for both" do
  with_service do |m, idp, service|
    good = idp.token
    [7200, -14_400].each do |seconds|
      m.test.clock(advance_seconds: seconds)
      assert [service.orders(good), service.orders(idp.expired)] == ["test-user", "expired"]
    end
  end
end

test "a user signs in at a service" do
  [nil, "form_post"].each do |response_mode|
    with_service(response_mode) do |m, idp, service|
      response = idp.login(service.url, "alice@example.com")
      assert [response.status, response.body] == [200, "alice@example.com"], response.inspect
      assert Net::HTTP.get(URI("#{service.url}/me"), {"Cookie" => response.cookie}) == "alice@example.com"
      assert m.account.list.accounts.map(&:email) == ["alice@example.com"]
    end
  end
end

test "a login at a service that fails says why" do
  with_service do |m, idp, service|
    error = raises(Mintmark::IdentityProvider::Error) { idp.login(service.url, "alice@example.com", path: "/me") }
    assert error.message.include?("/me does not lead to the provider: the last answer of the service has the status 401"), error.message
    m.account.update(account_id: m.account.create(username: "dave@example.com").account_id, disabled: true)
    error = raises(Mintmark::IdentityProvider::Error) { idp.login(service.url, "dave@example.com") }
    assert error.message.match?(/has not signed in dave@example\.com: status \d+, ./), error.message
  end
end
