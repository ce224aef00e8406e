import JSON

extension Fixtures {
    /// Tenants, accounts with their sessions and second factors, and pending flows.
    static var people: [Fixture] {
        [
            // A tenant in addition to the default one: $tenantIssuer.
            Fixture(
                name: "tenant", given: [],
                steps: [.init(method: "tenant.create", params: ["tenantId": "shop"], result: ["issuer": "$tenantIssuer"])]),
            // An application of the default tenant.
            Fixture(name: "application", given: [], steps: [.init(method: "application.put", params: ["clientId": "mobile"], result: [:])]),
            // An application that runs on a server.
            Fixture(
                name: "confidentialApplication", given: [],
                steps: [.init(method: "application.put", params: ["clientId": "backend", "type": "confidential"], result: [:])]),
            // The same with two secrets: $secretId, $nextSecretId.
            Fixture(
                name: "rotatedSecret", given: ["confidentialApplication"],
                steps: [
                    .init(method: "application.addSecret", params: ["clientId": "backend"], result: ["secretId": "$secretId"]),
                    .init(method: "application.addSecret", params: ["clientId": "backend"], result: ["secretId": "$nextSecretId"]),
                ]),
            // A sign-up of alice that waits for the code: $continuation, $code.
            Fixture(
                name: "signUp", given: [],
                steps: [
                    .init(
                        method: "signUp.start", params: ["username": "alice@example.com"],
                        result: ["state": "codeRequired", "continuationToken": "$continuation"]),
                    .init(method: "test.outbox", params: [:], result: ["messages": [["code": "$code"]]]),
                ]),
            // The new account of alice: $account, $signedUp.
            Fixture(
                name: "account", given: ["signUp"],
                steps: [
                    .init(
                        method: "signUp.submitCode", params: ["continuationToken": "$continuation", "code": "$code"],
                        result: ["state": "completed", "accountId": "$account", "continuationToken": "$signedUp"])
                ]),
            // A sign-in to that account that waits for a code: $signInContinuation, $signInCode.
            Fixture(
                name: "signIn", given: ["account"],
                steps: [
                    .init(
                        method: "signIn.start", params: ["username": "alice@example.com"],
                        result: ["continuationToken": "$signInContinuation"]),
                    .init(method: "test.outbox", params: ["after": 1], result: ["messages": [["code": "$signInCode"]]]),
                ]),
            // An account with a phone number, in a tenant in which users sign in with it.
            Fixture(
                name: "accountWithNumber", given: [],
                steps: [
                    .init(method: "tenant.update", params: ["tenantId": "default", "phoneSignIn": "accounts"], result: [:]),
                    .init(
                        method: "account.create", params: ["username": "alice@example.com", "phoneNumber": "+15555550100"], result: [:]),
                ]),
            // A session of alice: $idToken, $accessToken, $refreshToken.
            Fixture(
                name: "session", given: ["account"],
                steps: [
                    .init(
                        method: "signIn.withContinuation", params: ["continuationToken": "$signedUp"],
                        result: ["idToken": "$idToken", "accessToken": "$accessToken", "refreshToken": "$refreshToken"])
                ]),
            // The session of the account in the list: $session.
            Fixture(
                name: "listedSession", given: ["session"],
                steps: [
                    .init(
                        method: "session.list", params: ["accountId": "$account"], result: ["sessions": [["sessionId": "$session"]]])
                ]),
            // A change of her email address that waits for the code: $emailContinuation, $emailCode.
            Fixture(
                name: "emailChange", given: ["session"],
                steps: [
                    .init(
                        method: "account.changeEmail", params: ["idToken": "$idToken", "email": "alice@example.org"],
                        result: ["state": "codeRequired", "continuationToken": "$emailContinuation"]),
                    .init(method: "test.outbox", params: ["to": "alice@example.org"], result: ["messages": [["code": "$emailCode"]]]),
                ]),
            // An account of another user: $bobsAccount.
            Fixture(
                name: "bobsAccount", given: [],
                steps: [.init(method: "account.create", params: ["username": "bob@example.com"], result: ["accountId": "$bobsAccount"])]),
            // An agent of alice: $agent, $agentLinkedAt.
            Fixture(
                name: "agent", given: ["account"],
                steps: [
                    .init(
                        method: "account.createAgent",
                        params: [
                            "ownerId": "$account", "displayName": "Deploy bot",
                            "login": [
                                "issuer": "https://token.actions.githubusercontent.com",
                                "subject": "repo:octo-org/octo-repo:ref:refs/heads/main",
                            ],
                        ],
                        result: ["accountId": "$agent"])
                ]),
            // An account of bob with a password, and a session of it: $bobsAccount, $bobsIdToken.
            Fixture(
                name: "bobsSession", given: [],
                steps: [
                    .init(
                        method: "account.create", params: ["username": "bob@example.com", "password": "correct horse 9 Battery"],
                        result: ["accountId": "$bobsAccount"]),
                    .init(
                        method: "signIn.withPassword", params: ["username": "bob@example.com", "password": "correct horse 9 Battery"],
                        result: ["idToken": "$bobsIdToken"]),
                ]),
            // An account of alice with a password: $account.
            Fixture(
                name: "passwordAccount", given: [],
                steps: [
                    .init(
                        method: "account.create",
                        params: ["username": "alice@example.com", "password": "correct horse 9 Battery", "emailVerified": true],
                        result: ["accountId": "$account"])
                ]),
            // A session of that account: $idToken.
            Fixture(
                name: "passwordSession", given: ["passwordAccount"],
                steps: [
                    .init(
                        method: "signIn.withPassword", params: ["username": "alice@example.com", "password": "correct horse 9 Battery"],
                        result: ["idToken": "$idToken"])
                ]),
            // A code that resets the password of that account: $oobCode.
            Fixture(
                name: "oobCode", given: ["passwordAccount"],
                steps: [
                    .init(
                        method: "oob.create", params: ["purpose": "passwordReset", "email": "alice@example.com", "returnLink": true],
                        result: ["code": "$oobCode"])
                ]),
            // A code that signs in an address without an account: $oobCode.
            Fixture(
                name: "signInLink", given: [],
                steps: [
                    .init(
                        method: "oob.create", params: ["purpose": "signIn", "email": "bob@example.com", "returnLink": true],
                        result: ["code": "$oobCode"])
                ]),
            // A session in a tenant with passkeys.
            Fixture(
                name: "passkeySession", given: ["passwordSession"],
                steps: [
                    .init(
                        method: "tenant.update",
                        params: [
                            "tenantId": "default", "passkeys": ["relyingPartyId": "example.org", "origins": ["https://example.org"]],
                        ],
                        result: [:])
                ]),
            // The registration of a passkey, waiting for the response of the browser: $continuation. The challenge and the response are
            // those of W3C Web Authentication Level 3, section 16.1.
            Fixture(
                name: "passkeyStarted", given: ["passkeySession"],
                steps: [
                    .init(method: "test.enqueue", params: ["passkeyChallenge": "AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA"], result: [:]),
                    .init(
                        method: "passkey.startRegistration", params: ["idToken": "$idToken"],
                        result: ["continuationToken": "$continuation"]),
                ]),
            // That passkey.
            Fixture(
                name: "passkey", given: ["passkeyStarted"],
                steps: [
                    .init(
                        method: "passkey.finishRegistration",
                        params: ["continuationToken": "$continuation", "response": passkeyResponse], result: [:])
                ]),
            // The enrollment of an SMS factor for that account, waiting for the code: $continuation, $code.
            Fixture(
                name: "factorEnrollment", given: ["passwordSession"],
                steps: [
                    .init(
                        method: "mfa.enroll", params: ["idToken": "$idToken", "kind": "sms", "phoneNumber": "+4915112345678"],
                        result: ["continuationToken": "$continuation"]),
                    .init(method: "test.outbox", params: [:], result: ["messages": [["code": "$code"]]]),
                ]),
            // That factor after enrollment, and a session authenticated with it: $factor, $freshIdToken.
            Fixture(
                name: "factor", given: ["factorEnrollment"],
                steps: [
                    .init(
                        method: "mfa.confirm", params: ["continuationToken": "$continuation", "code": "$code"],
                        result: ["idToken": "$freshIdToken", "account": ["factors": [["factorId": "$factor"]]]])
                ]),
            // A sign-in that requires the second factor: $secondContinuation.
            Fixture(
                name: "secondFactorRequired", given: ["factor"],
                steps: [
                    .init(
                        method: "signIn.withPassword", params: ["username": "alice@example.com", "password": "correct horse 9 Battery"],
                        result: ["state": "secondFactorRequired", "continuationToken": "$secondContinuation"])
                ]),
            // The same sign-in after its code was sent: $challenged, $secondCode.
            Fixture(
                name: "secondFactorChallenged", given: ["secondFactorRequired"],
                steps: [
                    .init(
                        method: "mfa.challenge", params: ["continuationToken": "$secondContinuation", "factorId": "$factor"],
                        result: ["continuationToken": "$challenged"]),
                    .init(
                        method: "test.outbox", params: ["to": "+4915112345678", "after": 1], result: ["messages": [["code": "$secondCode"]]]
                    ),
                ]),
            // A sign-in to that account that waits for the password: $continuation.
            Fixture(
                name: "passwordSignIn", given: ["passwordAccount"],
                steps: [
                    .init(
                        method: "signIn.start", params: ["username": "alice@example.com"],
                        result: ["state": "passwordRequired", "continuationToken": "$continuation"])
                ]),
            // A reset of that password that waits for the code: $continuation, $resetCode.
            Fixture(
                name: "passwordReset", given: ["passwordAccount"],
                steps: [
                    .init(
                        method: "passwordReset.start", params: ["username": "alice@example.com"],
                        result: ["continuationToken": "$continuation"]),
                    .init(method: "test.outbox", params: [:], result: ["messages": [["code": "$resetCode"]]]),
                ]),
            // The same reset after the code was submitted: $nextContinuation.
            Fixture(
                name: "passwordResetVerified", given: ["passwordReset"],
                steps: [
                    .init(
                        method: "passwordReset.submitCode", params: ["continuationToken": "$continuation", "code": "$resetCode"],
                        result: ["state": "passwordRequired", "continuationToken": "$nextContinuation"])
                ]),
        ]
    }
}

extension Fixtures {
    /// The response of an authenticator (W3C Web Authentication Level 3, section 16.1).
    private static let passkeyResponse: JSONValue = try! JSONValue(
        parsing: ##"""
            {"id": "-R85HbTJsv3g6nAYnLo_tj9Xm6YSKzOtlP8-wzAIS-Q", "rawId": "-R85HbTJsv3g6nAYnLo_tj9Xm6YSKzOtlP8-wzAIS-Q", "type": "public-key", "response": {"clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQU1NUHQ0VXh4R1RTdG5jZHE0MTdZRHdCRmk4dnBJYS1wdzhvT3VWVzRUQSIsIm9yaWdpbiI6Imh0dHBzOi8vZXhhbXBsZS5vcmciLCJjcm9zc09yaWdpbiI6ZmFsc2UsImV4dHJhRGF0YSI6ImNsaWVudERhdGFKU09OIG1heSBiZSBleHRlbmRlZCB3aXRoIGFkZGl0aW9uYWwgZmllbGRzIGluIHRoZSBmdXR1cmUsIHN1Y2ggYXMgdGhpczogQmtRZURqZGNUQnJYQmlBd0pUTEU1USJ9", "attestationObject": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVikv6vDdDKViwYzYNOtZGHJxHNa5_jt1GWSpeDwFFKy5LVZAAAAAIRGzLmrHbN0dQsjZ_9vOh8AIPkfOR20ybL94OpwGJy6P7Y_V5umEiszrZT_PsMwCEvkpQECAyYgASFYIK_voW-XypstI-uGzLZAmNINuQhWBi6yScM6m2cvJt9hIlggkwpWuHovymYzSwNFir-HlxfBLMaO1zKQry4mZHlrkiA"}, "clientExtensionResults": {}}
            """##)
}
