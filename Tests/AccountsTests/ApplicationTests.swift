import Contract
import JSON
import Testing

@testable import Accounts

@Suite("applications of a tenant")
struct ApplicationTests {
    private func tenant(_ applications: [ApplicationPut.Params] = []) -> TenantRecord {
        TenantRecord(
            TenantCreate.Params(
                tenantId: "shop", audiences: ["api://a", "api://b"], scopes: ["read", "write"],
                audienceScopes: [AudienceScopes(audience: "api://b", scopes: ["count", "list"])]),
            applications: applications.map { ApplicationRecord(id: "id of \($0.clientId)", settings: $0, createdAt: 0, updatedAt: 0) },
            createdAt: 0, updatedAt: 0)
    }

    private func settings(_ clientId: String) -> ApplicationPut.Params { ApplicationPut.Params(tenantId: "shop", clientId: clientId) }

    @Test("the ID of the tenant is always an application, and a deleted one is not found under the same client ID")
    func names() throws {
        let tenant = tenant([settings("mobile")])
        #expect(tenant.application("shop")?.isDefault == true && tenant.application(nil)?.name == nil)
        #expect(tenant.application("mobile")?.name == ApplicationName(id: "id of mobile", clientId: "mobile"))
        #expect(tenant.application(named: ApplicationName(id: "earlier", clientId: "mobile")) == nil)
        #expect(throws: ClientUnknown.self) { try tenant.knownApplication("Mobile") }
    }

    @Test("only origins in serialized form and absolute redirect URIs are accepted")
    func addresses() {
        for good in ["https://shop.example.com", "http://127.0.0.1:3000", "http://[::1]:3000"] { #expect(ApplicationRules.isOrigin(good)) }
        for bad in ["shop.example.com", "https://", "https://Shop.example.com", "https://a/", "https://a b", "*", "null"] {
            #expect(!ApplicationRules.isOrigin(bad), "\(bad)")
        }
        for good in ["com.example.app://done", "msauth.shop:/auth", "https://a/b?c=d"] { #expect(ApplicationRules.isRedirect(good)) }
        for bad in ["", "/a", "a", ":a", "https:", "1a:b", "https://a#b", "https://a b", "https://ä"] {
            #expect(!ApplicationRules.isRedirect(bad), "\(bad)")
        }
    }

    @Test(
        "a refresh of an application stays within its scopes, its consent and the scopes of the audience",
        arguments: [
            // Audience of the sign-in, requested audience, requested scopes; the granted scopes or the error.
            ("api://a", nil, nil, "openid read"), ("api://a", nil, "read write", "read write"),
            ("api://a", nil, "count", "scopeNotOffered"),
            ("api://a", "api://b", nil, "openid"), ("api://a", "api://b", "count", "count"),
            ("api://a", "api://b", "list", "scopeNotOffered"),
            ("api://a", "api://b", "read", "scopeNotOffered"), ("api://a", "api://c", nil, "audienceNotOffered"),
        ] as [(String, String?, String?, String)])
    func consent(_ audience: String, _ asked: String?, _ scope: String?, _ wanted: String) throws {
        var mobile = settings("mobile")
        mobile.scopes = ["read", "write", "count", "list"]
        mobile.consent = ["write", "count"]
        let grant = AccessGrant(
            audience: audience, scopes: Scopes("openid read"), application: ApplicationName(id: "id of mobile", clientId: "mobile"))
        do {
            #expect(try grant.continued(audience: asked, scope: scope, by: tenant([mobile])).scopes.text == wanted)
        } catch let error as any ContractError { #expect(type(of: error).type == wanted) }
    }

    @Test("what a flow stores about its application is read back, and nothing is stored for the default application")
    func storage() {
        #expect(FlowApplication().text == nil && FlowApplication(text: nil) == FlowApplication())
        var application = FlowApplication(name: ApplicationName(id: "a", clientId: "mobile"), accepts: [.code, .enrollment])
        application.attributesSince = 4
        #expect(FlowApplication(text: application.text) == application)
        let nothing = FlowApplication(accepts: [])
        #expect(FlowApplication(text: nothing.text) == nothing && nothing.redirection(for: [.code])?.missing == [.code])
        #expect(application.redirection(for: [.code, .password])?.missing == [.password])
        #expect(application.redirection(for: [.code]) == nil && FlowApplication().redirection(for: [.provider]) == nil)
        #expect(FlowApplication().fingerprint(sends: true).isEmpty && !FlowApplication().fingerprint(sends: false).isEmpty)
    }

    @Test("a user changes only writable attributes and removes only those that are not required")
    func ownAttributes() throws {
        let tenant = TenantRecord(
            TenantCreate.Params(
                tenantId: "shop",
                attributes: [
                    TenantAttribute(name: "displayName", type: .string, required: true), TenantAttribute(name: "surname", type: .string),
                    TenantAttribute(name: "city", type: .string),
                ]), createdAt: 0, updatedAt: 0)
        let present: JSONObject = ["displayName": "A", "surname": "B", "city": "C", "other": 1]
        #expect(try OwnAttributes.change(["surname": .null], of: present, by: tenant)["surname"] == nil)
        #expect(try OwnAttributes.change(["displayName": "D"], of: present, by: tenant)["other"] == 1)
        for given in [["city": "D"], ["displayName": .null], ["displayName": ""]] as [JSONObject] {
            #expect(throws: AttributeNotYours.self) { try OwnAttributes.change(given, of: present, by: tenant) }
        }
        #expect(throws: InvalidAttributes.self) { try OwnAttributes.change(["other": 2], of: present, by: tenant) }
    }
}
