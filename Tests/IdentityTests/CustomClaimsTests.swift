import Contract
import JSON
import Testing

@testable import Accounts

@Suite("custom claims")
struct CustomClaimsTests {
    @Test("1000 characters are taken, and one more is not; a character counts once, however many bytes it has")
    func length() throws {
        // {"a":"…"} has eight characters beside its text.
        try TenantTokenClaims.check(custom: ["a": .string(String(repeating: "ü", count: 992))])
        #expect(throws: ClaimsTooLong(characters: 1001)) {
            try TenantTokenClaims.check(custom: ["a": .string(String(repeating: "ü", count: 993))])
        }
    }

    @Test("every name with a meaning of its own is refused, all at once", arguments: TenantTokenClaims.reserved.sorted())
    func names(_ name: String) {
        #expect(throws: ClaimNameReserved(names: [name, "mintmark"].reduce(into: []) { if !$0.contains($1) { $0.append($1) } })) {
            var claims: JSONObject = ["plan": "gold"]
            claims[name] = 1
            claims["mintmark"] = 1
            try TenantTokenClaims.check(custom: claims)
        }
    }
}
