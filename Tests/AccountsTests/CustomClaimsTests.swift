import Contract
import JSON
import Testing

@testable import Accounts

@Suite("custom claims")
struct CustomClaimsTests {
    @Test("custom claims can have at most 1,000 characters, counted as Unicode characters")
    func length() throws {
        // `{"a":"…"}` has eight characters in addition to the value.
        try CustomClaims.check(["a": .string(String(repeating: "ü", count: 992))])
        #expect(throws: ClaimsTooLong(characters: 1001)) {
            try CustomClaims.check(["a": .string(String(repeating: "ü", count: 993))])
        }
    }

    @Test("every reserved claim name is rejected, and all violations are reported together", arguments: CustomClaims.reserved.sorted())
    func names(_ name: String) {
        #expect(throws: ClaimNameReserved(names: [name, "mintmark"].reduce(into: []) { if !$0.contains($1) { $0.append($1) } })) {
            var claims: JSONObject = ["plan": "gold"]
            claims[name] = 1
            claims["mintmark"] = 1
            try CustomClaims.check(claims)
        }
    }
}
