import Platform
import Testing

@Suite struct NetworkRangeTests {
    static let ranges: [(String, String, Bool)] = [
        ("203.0.113.7", "203.0.113.7", true), ("203.0.113.7", "203.0.113.8", false), ("203.0.113.0/24", "203.0.113.255", true),
        ("203.0.113.0/24", "203.0.114.0", false), ("203.0.113.99/24", "203.0.113.1", true), ("10.0.0.0/9", "10.127.255.255", true),
        ("10.0.0.0/9", "10.128.0.0", false), ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "::1", false),
        ("::/0", "203.0.113.7", false), ("::/0", "2001:db8::1", true), ("2001:db8::/33", "2001:db8:7fff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("2001:DB8::1", "2001:db8:0::1", true),
        ("203.0.113.0/24", "::ffff:203.0.113.5", true), ("::ffff:203.0.113.0/120", "203.0.113.5", true),
        ("::ffff:0:0/96", "198.51.100.1", true), ("::ffff:203.0.113.0/120", "::ffff:203.0.114.5", false),
    ]

    @Test("a range contains the addresses that share its first bits", arguments: ranges)
    func contains(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(NetworkRange(range)).contains(try #require(NetworkAddress(address))) == isIn)
    }

    @Test(
        "text that is not a range is rejected",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8", "::/129", "[::1]", "10.*",
            "host/8",
        ])
    func none(text: String) {
        #expect(NetworkRange(text) == nil)
    }

    @Test("a range of all addresses of a kind is recognized")
    func everything() throws {
        #expect(try ["0.0.0.0/0", "::/0", "0.0.0.0/1"].map { try #require(NetworkRange($0)).isEverything } == [true, true, false])
    }
}
