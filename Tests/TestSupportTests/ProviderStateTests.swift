import Testing

@testable import Accounts
@testable import TestSupport

@Suite("the state of the test provider")
struct ProviderStateTests {
    private static let grant = ProviderState.Grant(issuer: "default", clientId: "shop", scopes: Scopes("openid"))

    @Test("above the capacity, only the oldest entry is evicted")
    func firstGivesWay() {
        var numbers = BoundedCache<Int>(atMost: 3)
        for (place, name) in ["a", "b", "c"].enumerated() { numbers[name] = place }
        numbers["a"] = 10
        numbers["d"] = 3
        #expect(numbers["a"] == nil && numbers["b"] == 1 && numbers["d"] == 3)
        // An entry that was removed and added again is the newest.
        numbers["b"] = nil
        numbers["b"] = 11
        numbers["e"] = 4
        #expect(numbers["c"] == nil && numbers["b"] == 11 && numbers.count == 3)
        for each in 0..<1000 {
            numbers["\(each)"] = each
            if each % 2 == 0 { numbers["\(each)"] = nil }
        }
        #expect(numbers.all.map(\.name).sorted() == ["995", "997", "999"])
        numbers.forget { $0 < 997 || $0 == 999 }
        #expect(numbers.all.map(\.name).sorted() == ["997", "999"])
    }

    @Test("refresh tokens of the latest logins stay valid, whatever the number of logins")
    func manyLogins() {
        var (state, spent) = (ProviderState(), 0)
        for each in 0..<(ProviderState.limit + 100) {
            let code = ProviderState.Code(
                grant: Self.grant, redirectUri: "a:b", challenge: nil, nonce: nil, sessionId: "\(each)", refreshToken: "r", expiresAt: 60)
            state.keep(code, as: "\(each)", at: 0)
            if state.spend("\(each)", for: Self.grant) { spent += 1 }
        }
        #expect(spent == ProviderState.limit + 100)
        #expect(state.grants.count == ProviderState.limit && state.codes.count == ProviderState.limit)
        #expect(state.grants["99"] == nil && state.grants["100"] != nil)
    }

    @Test("a revoked access token stays revoked until its expiry")
    func revoked() {
        var state = ProviderState()
        state.revoke("early", until: 100, at: 0)
        state.revoke("late", until: 1000, at: 0)
        for each in 0...ProviderState.limit { state.revoke("\(each)", until: 1000, at: 99) }
        #expect(state.revoked["early"] != nil && state.revoked["late"] != nil && state.revoked["0"] != nil)
        state.revoke("last", until: 1000, at: 100)
        #expect(state.revoked["early"] == nil && state.revoked["late"] != nil && state.revoked["last"] != nil)
    }

    @Test("a code can be used once, and its grant begins then")
    func spending() {
        var state = ProviderState()
        state.codes["c"] = ProviderState.Code(
            grant: Self.grant, redirectUri: "a:b", challenge: nil, nonce: nil, sessionId: "s", refreshToken: "r", expiresAt: 60)
        state.devices["d"] = ProviderDevice(grant: Self.grant, userCode: "AAAA-AAAA", expiresAt: 60)
        #expect(state.grants["s"] == nil)
        let codes = [state.spend("c", for: Self.grant), state.spend("c", for: Self.grant), state.spend("e", for: Self.grant)]
        #expect(codes == [true, false, false] && state.grants["s"] != nil)
        let devices = [state.spend(device: "d", "t", for: Self.grant), state.spend(device: "d", "t", for: Self.grant)]
        #expect(devices == [true, false] && state.grants["t"] != nil)
    }

    @Test(
        "a device polls too soon if both the store's clock and the monotonic clock show too short an interval",
        arguments: [(100, 1, true), (104, 4, true), (105, 1, false), (100, 5, false), (100, 600, false)])
    func tooSoon(now: Int64, seconds: UInt64, isTooSoon: Bool) {
        var device = ProviderDevice(grant: Self.grant, userCode: "AAAA-AAAA", expiresAt: 700)
        #expect(!device.isAskedTooSoon(at: now, seconds * 1_000_000_000))
        (device.polledAt, device.polledAtNanoseconds) = (100, 0)
        #expect(device.isAskedTooSoon(at: now, seconds * 1_000_000_000) == isTooSoon)
    }
}
