import Contract
import Testing

@testable import Accounts

@Suite("scopes of access tokens")
struct ScopesTests {
    private func tenant(_ scopes: [String] = []) -> TenantRecord {
        TenantRecord(TenantCreate.Params(tenantId: "shop", scopes: scopes), createdAt: 0, updatedAt: 0)
    }

    @Test("the default scope is openid, and requested scopes are granted once, in the requested order")
    func granted() throws {
        #expect(try Scopes.granted(nil, by: tenant()).text == "openid")
        #expect(try Scopes.granted("b openid a b", by: tenant(["a", "b"])).text == "b openid a")
        #expect(try Scopes.granted("profile email offline_access", by: tenant()).names == ["profile", "email", "offline_access"])
    }

    @Test("all scopes that are not offered are reported")
    func refused() {
        let error = #expect(throws: ScopeNotOffered.self) { try Scopes.granted("x a OPENID y", by: tenant(["a"])) }
        #expect(error?.scopes == ["x", "OPENID", "y"])
    }

    @Test(
        "a continued session keeps its audience and scopes; another audience gets only the requested scopes",
        arguments: [
            // Granted audience, granted scopes, requested audience, requested scope; the resulting audience and
            // scopes, or the error.
            (nil, "openid a", nil, nil, "shop: openid a"), ("shop", "openid a", nil, nil, "shop: openid a"),
            (nil, "openid a", "shop", nil, "shop: openid a"), ("api://a", "openid a", nil, nil, "api://a: openid a"),
            ("api://a", "openid a", "api://a", nil, "api://a: openid a"), ("api://a", "openid a", nil, "a", "api://a: a"),
            ("api://a", "openid a", nil, "b", "scopeNotGranted"), ("api://a", "openid a", nil, "c", "scopeNotOffered"),
            ("api://a", "openid a gone", nil, nil, "api://a: openid a"), ("api://a", "openid a", "api://b", nil, "api://b: openid"),
            ("api://a", "a b", "api://b", nil, "api://b: openid"), ("api://a", "openid a", "api://b", "b", "api://b: b"),
            ("api://a", "openid a", "api://b", "c", "scopeNotOffered"), ("api://a", "openid a", "shop", nil, "shop: openid"),
            (nil, "openid a", "api://a", nil, "api://a: openid"), ("api://a", "openid a", "api://c", nil, "audienceNotOffered"),
            ("api://gone", "openid a", nil, nil, "audienceNotOffered"), ("api://gone", "openid a", "api://b", nil, "api://b: openid"),
        ] as [(String?, String, String?, String?, String)])
    func continued(_ audience: String?, _ scopes: String, _ asked: String?, _ scope: String?, _ wanted: String) throws {
        let tenant = TenantRecord(
            TenantCreate.Params(tenantId: "shop", audiences: ["api://a", "api://b"], scopes: ["a", "b"]), createdAt: 0, updatedAt: 0)
        do {
            let grant = try AccessGrant(audience: audience, scopes: Scopes(scopes)).continued(audience: asked, scope: scope, by: tenant)
            #expect("\(grant.audience ?? "shop"): \(grant.scopes.text)" == wanted)
        } catch let error as any ContractError { #expect(type(of: error).type == wanted) }
    }

    @Test("a refresh grants the scopes that are still offered or a subset, and never more")
    func refreshed() throws {
        let granted = Scopes("openid a b")
        #expect(try Scopes.refreshed(nil, of: granted, by: tenant(["b"])).text == "openid b")
        #expect(try Scopes.refreshed("a", of: granted, by: tenant(["a", "b"])).text == "a")
        let error = #expect(throws: ScopeNotGranted.self) { try Scopes.refreshed("a c email", of: granted, by: tenant(["a", "c"])) }
        #expect(error?.scopes == ["c", "email"])
        #expect(throws: ScopeNotOffered.self) { try Scopes.refreshed("b", of: granted, by: tenant(["a"])) }
    }
}
