import JSON

extension Fixtures {
    /// Identity providers, and users who sign in with them.
    static var federation: [Fixture] {
        [
            // An identity provider of the default tenant.
            Fixture(
                name: "idp", given: [],
                steps: [
                    .init(
                        method: "idp.create",
                        params: [
                            "providerId": "oidc.work", "clientId": "shop", "issuer": "https://login.example.com",
                            "displayName": "Example Works", "keys": [exampleKey],
                        ], result: [:])
                ]),
            // A trusted issuer with given keys.
            Fixture(
                name: "trustedIssuer", given: [],
                steps: [
                    .init(
                        method: "issuer.put",
                        params: [
                            "issuer": "https://login.example.com", "audiences": ["sts.amazonaws.com"], "keys": [exampleKey],
                        ], result: [:])
                ]),
            // GitHub, a provider with predefined endpoints.
            Fixture(
                name: "github", given: [],
                steps: [
                    .init(
                        method: "idp.create",
                        params: ["providerId": "github.com", "clientId": "Iv1.8a61f9b3a7aba766", "clientSecret": "correct-horse-battery"],
                        result: [:])
                ]),
            // An account of carol that is not linked to that provider.
            Fixture(
                name: "carolsAccount", given: [],
                steps: [.init(method: "account.create", params: ["username": "carol@example.com"], result: [:])]),
            // Carol, signed in with that provider.
            Fixture(
                name: "carolSignedIn", given: ["idp"],
                steps: [
                    .init(
                        method: "signIn.withCredential",
                        params: ["credential": ["providerId": "oidc.work", "idToken": carolsToken]], result: [:])
                ]),
            // A session of alice, whose account is also linked to that provider.
            Fixture(
                name: "linkedSession", given: ["passwordSession", "idp"],
                steps: [
                    .init(
                        method: "account.link",
                        params: ["idToken": "$idToken", "credential": ["providerId": "oidc.work", "idToken": carolsToken]], result: [:])
                ]),
            // The default tenant, with anonymous accounts allowed.
            Fixture(
                name: "anonymousAllowed", given: [],
                steps: [.init(method: "tenant.update", params: ["tenantId": "default", "anonymousAllowed": true], result: [:])]),
            // The default tenant, with a backend that signs custom tokens.
            Fixture(
                name: "customTokenSigner", given: [],
                steps: [
                    .init(method: "test.clock", params: ["setAt": 1_700_000_000, "freeze": true], result: [:]),
                    .init(
                        method: "tenant.update",
                        params: [
                            "tenantId": "default",
                            "customTokenSigners": [["issuer": "backend@shop.example", "keys": [backendKey]]],
                        ], result: [:]),
                ]),
        ]
    }

    /// The key of a backend that signs custom tokens.
    private static let backendKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "backend-1", "alg": "ES256", "x": "UyahO3Ydh6ACmN8gmA_zkOsDFFxSh_xaraiJ4k-Khac",
        "y": "VkEf3Hc0kdSVkRPgcGgO0aoPOSOwtprV-8I7GMkN3t4",
    ]
}
