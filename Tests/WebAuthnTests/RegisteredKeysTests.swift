import Testing

@testable import WebAuthn

/// The parsed keys of registered passkeys.
@Suite struct RegisteredKeysTests {
    private func cose(_ name: String) throws -> [UInt8] { try Vector.named(name).register().publicKey }

    @Test("a key is parsed once while it is used")
    func parsedOnce() throws {
        let keys = RegisteredKeys(limit: 4)
        let (one, two) = (try cose("none-es256"), try cose("packed-self-es256"))
        let first = try keys.key(one)
        let other = try keys.key(two)
        #expect(try keys.key(one).key === first.key)
        #expect(try keys.key(two).key === other.key)
        #expect(first.key !== other.key && first.material != other.material)
    }

    @Test("the keys that were not used for the longest time are dropped")
    func dropped() throws {
        let keys = RegisteredKeys(limit: 1)
        let (one, two, three) = (try cose("none-es256"), try cose("packed-self-es256"), try cose("packed-es384"))
        let first = try keys.key(one)
        for _ in 0..<10 { _ = try keys.key(two) }
        #expect(keys.count == 2)
        #expect(try keys.key(one).key === first.key, "the key of the older generation is found, and is young again")
        _ = try keys.key(three)
        _ = try keys.key(two)
        _ = try keys.key(three)
        #expect(try keys.key(one).key !== first.key)
        #expect(keys.count <= 2)
    }

    @Test("bytes other than a key are refused every time, and not kept")
    func refused() throws {
        let keys = RegisteredKeys(limit: 4)
        for _ in 0..<3 {
            #expect(throws: PasskeyRefusal.self) { try keys.key([0xA0]) }
        }
        #expect(keys.count == 0)
    }

    @Test("a key that has refused a signature accepts the next valid one, on several threads")
    func threads() async throws {
        let vector = Vector.named("none-es256")
        let registered = try vector.register()
        let stored = StoredCredential(
            key: try RegisteredKeys(limit: 1).key(registered.publicKey), counter: 0, backupEligible: registered.backupEligible)
        let good = vector.assertion
        let wrong = AssertionResponse(
            clientData: good.clientData, authenticatorData: good.authenticatorData,
            signature: good.signature.flipping(bit: good.signature.count * 8 - 1))
        let verdicts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<10).filter { _ in
                        let refusal = reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(wrong, of: stored) }
                        let acceptance = reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(good, of: stored) }
                        return refusal == .signatureInvalid && acceptance == nil
                    }.count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(verdicts == 80)
    }
}
