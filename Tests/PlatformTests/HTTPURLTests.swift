import Platform
import Testing

@Suite struct HTTPURLTests {
    @Test("a URL is split into its parts")
    func parts() throws {
        let url = try HTTPURL("https://user:pw@Login.Example:8443/a/b?x=1?2#end")
        #expect((url.scheme, url.userInformation, url.host) == (.https, "user:pw", "Login.Example"))
        #expect((url.port, url.path, url.query, url.fragment) == (8443, "/a/b", "x=1?2", "end"))
        #expect(url.origin == "https://Login.Example:8443")
        #expect(url.withoutScheme == "user:pw@Login.Example:8443/a/b?x=1?2#end")
        let bare = try HTTPURL("http://[::1]")
        #expect((bare.host, bare.port, bare.path, bare.query, bare.fragment) == ("[::1]", nil, "", nil, nil))
        #expect(bare.effectivePort == 80)
        let fragment = try HTTPURL("https://a#b?c/d@e")
        #expect((fragment.host, fragment.query, fragment.fragment) == ("a", nil, "b?c/d@e"))
    }

    @Test(
        "a text that is not a URL with http or https is refused",
        arguments: [
            ("ftp://a.example", HTTPURL.Flaw.scheme), ("HTTPS://a.example", .scheme), ("https:/a.example", .scheme), ("", .scheme),
            ("https://", .host), ("https:///a", .host), ("https://:443", .host), ("https://[::1", .host), ("https://[]", .host),
            ("https://a b.example", .characters), ("https://a.example/\u{7F}", .characters), ("https://a.example/\n", .characters),
            ("https://ä.example", .host), ("https://a!.example", .host), ("https://a.example:", .port), ("https://a.example:0", .port),
            ("https://a.example:65536", .port), ("https://a.example:+1", .port), ("https://a.example:1x", .port),
            ("https://[::1]x", .port),
        ])
    func refused(text: String, flaw: HTTPURL.Flaw) {
        #expect(throws: flaw) { try HTTPURL(text) }
    }

    @Test("the host comes after the last @, so that a user name cannot stand for it")
    func userInformation() throws {
        #expect(try HTTPURL("https://good.example@evil.example/").host == "evil.example")
        #expect(try HTTPURL("https://a@good.example@evil.example/").host == "evil.example")
        #expect(try HTTPURL("https://good.example/@evil.example").host == "good.example")
        #expect(try HTTPURL("https://good.example?@evil.example").host == "good.example")
        #expect(try HTTPURL("https://good.example#@evil.example").host == "good.example")
    }

    @Test(
        "plain HTTP is admitted only for this machine, and only if the policy allows it",
        arguments: [
            ("http://localhost", true), ("http://LOCALHOST:1/a", true), ("http://a.localhost", true), ("http://127.0.0.1", true),
            ("http://127.9.9.9", true), ("http://[::1]", true), ("http://[::ffff:127.0.0.1]", true), ("http://localhost.example", false),
            ("http://127.0.0.1.example", false), ("http://10.0.0.1", false), ("http://[fe80::1]", false), ("http://a.example", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws {
        let url = try HTTPURL(text)
        #expect(url.isLoopback == isLoopback)
        #expect(AddressPolicy(allowsInsecureLoopback: true).admitsScheme(of: url) == isLoopback)
        #expect(!AddressPolicy(allowsPrivateNetwork: true).admitsScheme(of: url))
        #expect(AddressPolicy().admitsScheme(of: try HTTPURL("https" + text.dropFirst(4))))
    }

    @Test("two URLs have the same origin if scheme, host and port are the same")
    func origins() throws {
        func same(_ a: String, _ b: String) throws -> Bool { try HTTPURL(a).hasSameOrigin(as: HTTPURL(b)) }
        #expect(try same("https://a.example", "https://A.example:443/x?y"))
        #expect(try !same("https://a.example", "http://a.example"))
        #expect(try !same("https://a.example", "https://a.example:444"))
        #expect(try !same("https://a.example", "https://a.example@b.example"))
        #expect(try !same("https://a.example", "https://a.example.b"))
    }
}
