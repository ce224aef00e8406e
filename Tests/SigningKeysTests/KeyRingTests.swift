import Crypto
import Testing

@testable import ServiceContext
@testable import SigningKeys

@Suite("the life cycle of a pool's signing keys")
struct KeyRingTests {
    private func key(_ kid: String, activeAt: Int64, position: Int64, revokedAt: Int64? = nil) throws -> StoredKey {
        StoredKey(
            kid: kid, owner: .pool("p"), algorithm: .ES256, createdAt: 0, activeAt: activeAt, revokedAt: revokedAt, position: position,
            privateKey: try .generate(.ES256))
    }

    @Test("a key is first next, then active, then retired, then gone")
    func life() throws {
        let (old, new) = (try key("old", activeAt: 100, position: 1), try key("new", activeAt: 1000, position: 2))
        let ring = KeyRing([new, old])
        #expect(ring.state(of: new, at: 999) == .next)
        #expect(ring.active(at: 999)?.kid == "old")
        #expect(ring.active(at: 1000)?.kid == "new")
        #expect(ring.state(of: old, at: 1000) == .retired)
        #expect(ring.state(of: old, at: 87_399) == .retired)
        #expect(ring.state(of: old, at: 87_400) == .gone)
        #expect(ring.published(at: 999).map(\.kid) == ["old", "new"])
        #expect(ring.published(at: 87_400).map(\.kid) == ["new"])
        #expect(ring.nextChange(after: 500) == 1000)
        #expect(ring.nextChange(after: 1000) == 87_400)
        #expect(ring.nextChange(after: 87_400) == nil)
    }

    @Test("of two keys activated in the same second, the later one signs")
    func sameSecond() throws {
        let ring = KeyRing([try key("b", activeAt: 5, position: 1), try key("a", activeAt: 5, position: 2)])
        #expect(ring.active(at: 5)?.kid == "a")
        #expect(ring.state(of: ring.keys[0], at: 5) == .retired)
    }

    @Test("a revoked key neither signs nor is published")
    func revoked() throws {
        let ring = KeyRing([try key("old", activeAt: 1, position: 1), try key("bad", activeAt: 2, position: 2, revokedAt: 3)])
        #expect(ring.active(at: 10)?.kid == "old")
        #expect(ring.published(at: 10).map(\.kid) == ["old"])
    }

    @Test("a key is active even if the clock was set back")
    func clockBack() throws {
        #expect(KeyRing([try key("a", activeAt: 1000, position: 1)]).active(at: 10)?.kid == "a")
    }
}
