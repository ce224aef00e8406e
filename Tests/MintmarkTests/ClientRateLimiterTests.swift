import Contract
import Crypto
import Storage
import Testing

@testable import Accounts
@testable import Mintmark
@testable import ServiceContext

@Suite("rate limits per client")
struct ClientThrottleTests {
    private let database: SQLiteDatabase
    private let client: ClientKey

    init() throws {
        database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        client = try ClientKey(ClientOrigin(address: "192.0.2.7"), in: "default")
    }

    private func count(_ what: ClientRateLimiter, of client: ClientKey? = nil, at now: Int64) throws {
        try database.write { try $0.count(what, of: client ?? self.client, at: now) }
    }

    @Test("each window allows requests up to the limit and rejects later ones until it ends", arguments: ClientRateLimiter.allCases)
    func windows(what: ClientRateLimiter) throws {
        for _ in 0..<2 {
            let start: Int64 = 1_700_000_000 + Int64.random(in: 1...9) * 10_000
            for _ in 0..<what.limit { try count(what, at: start) }
            for later in Set([0, what.seconds - 1]) {
                let error = #expect(throws: TooManyFromClient.self) { try count(what, at: start + later) }
                #expect(error?.counted == what.rawValue && error?.retryAfterSeconds == what.seconds - later)
            }
            try count(what, at: start + what.seconds)
        }
    }

    @Test("kinds, addresses and tenants are counted separately, and setting the clock back starts a new window")
    func apart() throws {
        for _ in 0..<20 { try count(.requests, at: 1_700_000_000) }
        try count(.codes, at: 1_700_000_000)
        try count(.requests, of: ClientKey(ClientOrigin(address: "192.0.2.8"), in: "default"), at: 1_700_000_000)
        try count(.requests, of: ClientKey(ClientOrigin(address: "192.0.2.7"), in: "shop"), at: 1_700_000_000)
        #expect(throws: TooManyFromClient.self) { try count(.requests, at: 1_700_000_000) }
        try count(.requests, at: 1_600_000_000)
    }

    @Test(
        "an address is counted in canonical form, and an IPv6 address by its first 64 bits",
        arguments: [
            ("192.0.2.7", "::ffff:192.0.2.7", true), ("2001:db8::1", "2001:0DB8:0:0:ffff::9", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("192.0.2.7", "192.0.2.70", false),
        ])
    func addresses(one: String, other: String, same: Bool) throws {
        let keys = try [one, other].map { try ClientKey(ClientOrigin(address: $0), in: "default") }
        #expect((keys[0] == keys[1]) == same)
    }

    @Test(
        "text that is not an address is rejected",
        arguments: ["", "localhost", "192.0.2", "192.0.2.7 ", "1.2.3.4.5", "fe80::1%eth0", "::1/64", "[::1]"])
    func noAddress(text: String) {
        let error = #expect(throws: InvalidParams.self) { try ClientKey(ClientOrigin(address: text), in: "default") }
        #expect(error?.violations.first?.pointer == "/client/address")
    }

    @Test("expired counts are removed")
    func swept() throws {
        try count(.requests, at: 1_700_000_000)
        try count(.codes, at: 1_700_000_000)
        let left = try database.write { tx in
            _ = try ExpiryJob.clients.remove(tx, 1_700_000_100, 10)
            return try tx.rowCounts()["client_count"]
        }
        #expect(left == 1)
    }
}
