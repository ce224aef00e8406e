# frozen_string_literal: true

require "cgi"
require "net/http"
require "uri"

module Mintmark
  # An OpenID Connect provider on 127.0.0.1 with the accounts of the tenant `default`, for tests of a service. The service accepts {#token},
  # and must refuse {#expired} and {#foreign}. Users sign in with their email address alone; an unknown address gets an account.
  class IdentityProvider
    # The last response of a login: `status` is an Integer, and `cookie` the `Cookie` header with which the user is signed in.
    Response = Struct.new(:status, :headers, :body, :cookie)

    # @return [String] the issuer of the tokens
    attr_reader :issuer
    # @return [String] the URL of the public keys
    attr_reader :jwks_url
    # @return [String] the URL of the discovery document
    attr_reader :discovery_url
    # @return [String] the audience of tokens for which no other one is given
    attr_reader :audience

    # @param m [TestingClient]
    def initialize(m, audience: "test")
      @m = m
      started = m.test.idp(issuers: [{"name" => "default", "passwordless" => true, "createAccounts" => true}])
      @base, @issuer, @jwks_url, @discovery_url = started.base_url, started.issuer, started.jwks_url, started.discovery_url
      @audience = audience
    end

    # Returns a valid access token. The other parameters are those of `test.token`, such as `key_state: "wrong"`. Its times are those of
    # Mintmark's clock, which `test.clock` moves. The clock of your service does not move with it.
    def token(subject = "test-user", **more)
      @m.test.token(**{issuer: issuer, subject: subject, audience: audience, use: "access", **more}).token
    end

    # Returns a token that expired some seconds ago, by the clock of Mintmark and by the real time, and is valid otherwise.
    def expired(subject = "test-user", seconds: 3600, claims: {}, **more)
      exp = [@m.test.clock.now.to_i, Time.now.to_i].min - seconds
      token(subject, **more, claims: {"iat" => exp - 3600, "exp" => exp, **claims})
    end

    # Returns a token of an issuer that your service does not know, and that is valid otherwise.
    def foreign(subject = "test-user", **more)
      issuers = @m.test.idp(issuers: [{"name" => "foreign"}]).issuers
      token(subject, **{issuer: issuers.find { |each| each.name == "foreign" }.issuer, **more})
    end

    # Signs a user in at your service as a browser does, and returns the last response of the service.
    #
    # @param service [String] the URL of the service
    # @param path [String] the path of the service that starts the login by a redirect to the provider
    # @param claims [Hash] additional claims of the tokens of this login
    # @return [Response]
    def login(service, email, path: "/login", claims: nil)
      @m.test.enqueue(issuer: "default", claims: claims) if claims
      browser = Browser.new
      uri = URI.join(service, path)
      host = nil
      response = browser.get(uri)
      20.times do
        break unless (target = response.headers["location"]) && (300..399).cover?(response.status)
        following = URI.join(uri, target)
        if following.to_s.start_with?("#{@base}/")
          uri, form = sign_in(following, email)
          host = authority(uri)
          response = form ? browser.post(uri, form) : browser.get(uri)
          next
        end
        break if host && authority(following) != host # The service sends the browser elsewhere; the login is over.
        response = browser.get(uri = following)
      end
      return response if host
      raise Error, "#{path} does not lead to the provider: the last answer of the service has the status #{response.status}. " \
                   "Configure the issuer #{issuer} in the service."
    end

    private

    def authority(uri) = "#{uri.host}:#{uri.port}"

    # Sends the form of the login page. Returns what the browser sends to the service next.
    def sign_in(uri, email)
      browser = Browser.new
      response = browser.post(uri, {"step" => "address", "email" => email})
      while (300..399).cover?(response.status) && (target = response.headers["location"])
        uri = URI.join(uri, target)
        return [uri, nil] unless uri.to_s.start_with?("#{@base}/")
        response = browser.get(uri)
      end
      action = CGI.unescapeHTML(response.body[/<form[^>]*\saction="([^"]*)"/i, 1] || "")
      if action.match?(%r{\Ahttps?://}) && !action.start_with?("#{@base}/") # response_mode=form_post
        fields = response.body.scan(/<input[^>]*>/i).to_h { |tag| %w[name value].map { |name| CGI.unescapeHTML(tag[/\s#{name}="([^"]*)"/i, 1] || "") } }
        return [URI(action), fields.except("")]
      end
      words = CGI.unescapeHTML(response.body.gsub(%r{<(style|script).*?</\1>|<[^>]*>}mi, " ")).split.join(" ")
      raise Error, "The provider has not signed in #{email}: status #{response.status}, #{words[0, 300]}"
    end

    # The failure of a login.
    class Error < StandardError; end

    # An HTTP client that keeps cookies and does not follow redirects.
    class Browser
      def initialize = @cookies = Hash.new { |all, host| all[host] = {} }

      def get(uri) = send_request(uri, Net::HTTP::Get.new(uri))

      def post(uri, form) = send_request(uri, Net::HTTP::Post.new(uri).tap { |request| request.set_form_data(form) })

      private

      def authority(uri) = "#{uri.host}:#{uri.port}"

      def send_request(uri, request)
        cookies = @cookies[authority(uri)]
        request["Cookie"] = header(cookies) unless cookies.empty?
        answer = Net::HTTP.new(uri.host, uri.port, nil).start { |http| http.request(request) }
        answer.get_fields("set-cookie")&.each do |line|
          name, value = line[/\A[^;]*/].split("=", 2)
          line.match?(/;\s*max-age=(0|-\d+)\s*(;|\z)/i) ? cookies.delete(name.strip) : cookies[name.strip] = value
        end
        Response.new(answer.code.to_i, answer.each_header.to_h, answer.body.to_s.dup.force_encoding("UTF-8"), header(cookies))
      end

      def header(cookies) = cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
    end
    private_constant :Browser
  end
end
