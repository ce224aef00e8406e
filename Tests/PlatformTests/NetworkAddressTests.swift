import Platform
import Testing

@Suite struct NetworkAddressTests {
    static let addresses: [(String, NetworkAddress.Reach)] = [
        ("1.1.1.1", .everyone), ("8.8.8.8", .everyone), ("172.15.255.255", .everyone), ("172.32.0.1", .everyone),
        ("100.63.255.255", .everyone), ("100.128.0.1", .everyone), ("198.17.0.1", .everyone), ("198.20.0.1", .everyone),
        ("2606:4700::1111", .everyone), ("::ffff:8.8.8.8", .everyone), ("64:ff9b::8.8.8.8", .everyone), ("2002:808:808::1", .everyone),
        ("127.0.0.1", .loopback), ("127.255.255.254", .loopback), ("::1", .loopback), ("[::1]", .loopback),
        ("::ffff:127.0.0.1", .loopback), ("64:ff9b::7f00:1", .loopback), ("2002:7f00:1::1", .loopback), ("::ffff:0:127.0.0.1", .loopback),
        ("10.0.0.1", .privateNetwork), ("172.16.0.1", .privateNetwork), ("172.31.255.255", .privateNetwork),
        ("192.168.1.1", .privateNetwork), ("100.64.0.1", .privateNetwork), ("100.127.255.255", .privateNetwork),
        ("198.19.255.255", .privateNetwork), ("fc00::1", .privateNetwork), ("fdff::1", .privateNetwork), ("fec0::1", .privateNetwork),
        ("::ffff:10.0.0.1", .privateNetwork), ("64:ff9b::a00:1", .privateNetwork), ("64:ff9b:1::808:808", .privateNetwork),
        ("0.0.0.0", .nobody), ("0.1.2.3", .nobody), ("169.254.169.254", .nobody), ("224.0.0.1", .nobody), ("240.0.0.1", .nobody),
        ("255.255.255.255", .nobody), ("192.0.0.170", .nobody), ("192.0.2.1", .nobody), ("198.51.100.1", .nobody), ("203.0.113.1", .nobody),
        ("::", .nobody), ("fe80::1", .nobody), ("febf::1", .nobody), ("ff02::1", .nobody), ("::127.0.0.1", .nobody), ("2001::1", .nobody),
        ("2001:db8::1", .nobody), ("100::1", .nobody), ("::ffff:169.254.169.254", .nobody), ("4000::1", .nobody),
    ]

    @Test("addresses are classified by their reach, including IPv4 addresses embedded in IPv6", arguments: addresses)
    func reach(text: String, reach: NetworkAddress.Reach) throws {
        #expect(try #require(NetworkAddress(text)).reach == reach)
    }

    @Test("text that is not an address is rejected", arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "[1::2::3]", "0x7f.0.0.1"])
    func none(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test("by default, a policy allows only HTTPS to public addresses")
    func policy() throws {
        func admitted(_ policy: AddressPolicy, _ scheme: HTTPURL.Scheme) throws -> [String] {
            try ["1.1.1.1", "10.0.0.1", "127.0.0.1", "169.254.169.254"]
                .filter { policy.admits(try #require(NetworkAddress($0)), scheme: scheme) }
        }
        #expect(try admitted(AddressPolicy(), .https) == ["1.1.1.1"])
        #expect(try admitted(AddressPolicy(), .http) == [])
        #expect(try admitted(AddressPolicy(allowsPrivateNetwork: true), .https) == ["1.1.1.1", "10.0.0.1", "127.0.0.1"])
        #expect(try admitted(AddressPolicy(allowsPrivateNetwork: true), .http) == [])
        #expect(try admitted(AddressPolicy(allowsInsecureLoopback: true), .https) == ["1.1.1.1", "127.0.0.1"])
        #expect(try admitted(AddressPolicy(allowsInsecureLoopback: true), .http) == ["127.0.0.1"])
    }
}
