import Contract
import Testing

@testable import Identity

@Suite("what access tokens allow")
struct ScopesTests {
    private func tenant(_ scopes: [String] = []) -> TenantRecord {
        TenantRecord(TenantCreate.Params(tenantId: "shop", scopes: scopes), createdAt: 0, updatedAt: 0)
    }

    @Test("nothing asked for is openid; what is asked for twice is granted once, in the order of asking")
    func granted() throws {
        #expect(try Scopes.granted(nil, by: tenant()).text == "openid")
        #expect(try Scopes.granted("b openid a b", by: tenant(["a", "b"])).text == "b openid a")
        #expect(try Scopes.granted("profile email offline_access", by: tenant()).names == ["profile", "email", "offline_access"])
    }

    @Test("all that is not offered is named")
    func refused() {
        let error = #expect(throws: ScopeNotOffered.self) { try Scopes.granted("x a OPENID y", by: tenant(["a"])) }
        #expect(error?.scopes == ["x", "OPENID", "y"])
    }

    @Test("a refresh keeps what is still offered, gives a part, and never more")
    func refreshed() throws {
        let granted = Scopes("openid a b")
        #expect(try Scopes.refreshed(nil, of: granted, by: tenant(["b"])).text == "openid b")
        #expect(try Scopes.refreshed("a", of: granted, by: tenant(["a", "b"])).text == "a")
        let error = #expect(throws: ScopeNotGranted.self) { try Scopes.refreshed("a c email", of: granted, by: tenant(["a", "c"])) }
        #expect(error?.scopes == ["c", "email"])
        #expect(throws: ScopeNotOffered.self) { try Scopes.refreshed("b", of: granted, by: tenant(["a"])) }
    }
}
