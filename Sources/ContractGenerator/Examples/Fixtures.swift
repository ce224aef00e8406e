import JSON

/// What must be there before an example runs: named so that examples can ask for it with `given`.
///
/// Running one means running those it needs first, each once, then its steps in order. A `$name` in what a step answers takes
/// the value found there; from then on it stands for that value, in steps and in the example.
struct Fixture {
    let name: String
    let given: [String]
    let steps: [Step]

    struct Step {
        let method: String
        let params: JSONValue
        /// The members that are looked at.
        let result: JSONValue
    }
}

/// The fixtures there are.
enum Fixtures {
    static func named(_ name: String) -> Fixture? { all.first { $0.name == name } }

    static var all: [Fixture] {
        [
            // A pool with the developer provider login.shop: $pool, $issuer.
            Fixture(
                name: "pool", given: [],
                steps: [
                    .init(
                        method: "pool.create", params: ["name": "shop", "developerProvider": "login.shop"],
                        result: ["poolId": "$pool", "issuer": "$issuer"])
                ]),
            // The key that signs the pool's tokens: $kid.
            Fixture(
                name: "key", given: ["pool"],
                steps: [.init(method: "key.list", params: ["poolId": "$pool"], result: ["keys": [["kid": "$kid", "state": "active"]]])]),
            // A role for the pool's signed-in identities, not yet in the pool's record: $role.
            Fixture(
                name: "role", given: ["pool"],
                steps: [.init(method: "role.put", params: ["name": "reader", "poolId": "$pool"], result: ["roleArn": "$role"])]),
            // The pool with that role in its record.
            Fixture(
                name: "poolWithRole", given: ["role"],
                steps: [.init(method: "pool.setRoles", params: ["poolId": "$pool", "roles": ["authenticated": "$role"]], result: [:])]),
            // A token of the pool's user alice: $alice, $token, $expiresAt.
            Fixture(
                name: "token", given: ["pool"],
                steps: [
                    .init(
                        method: "token.mintForDeveloper", params: ["poolId": "$pool", "logins": ["login.shop": "alice"]],
                        result: ["identityId": "$alice", "token": "$token"])
                ]),
            // Another user of the pool: $bob.
            Fixture(
                name: "bob", given: ["pool"],
                steps: [
                    .init(
                        method: "token.mintForDeveloper", params: ["poolId": "$pool", "logins": ["login.shop": "bob"]],
                        result: ["identityId": "$bob"])
                ]),
            // A pool with guests and the classic flow: $pool.
            Fixture(
                name: "guestPool", given: [],
                steps: [
                    .init(
                        method: "pool.create", params: ["name": "shop", "allowUnauthenticated": true, "allowClassicFlow": true],
                        result: ["poolId": "$pool"])
                ]),
            // A guest of it: $guest.
            Fixture(
                name: "guest", given: ["guestPool"],
                steps: [.init(method: "identity.resolve", params: ["poolId": "$pool"], result: ["identityId": "$guest"])]),
            // A guest whose pool has a role for guests: $guestRole.
            Fixture(
                name: "guestWithRole", given: ["guest"],
                steps: [
                    .init(
                        method: "role.put",
                        params: [
                            "name": "visitor",
                            "trustPolicy": [
                                "Version": "2012-10-17",
                                "Statement": [
                                    [
                                        "Effect": "Allow", "Principal": ["Federated": "cognito-identity.amazonaws.com"],
                                        "Action": "sts:AssumeRoleWithWebIdentity",
                                        "Condition": ["StringEquals": ["cognito-identity.amazonaws.com:aud": "$pool"]],
                                    ]
                                ],
                            ],
                        ], result: ["roleArn": "$guestRole"]),
                    .init(
                        method: "pool.setRoles", params: ["poolId": "$pool", "roles": ["unauthenticated": "$guestRole"]], result: [:]),
                ]),
            // A user of a pool that allows the classic flow: $alice.
            Fixture(
                name: "classicToken", given: [],
                steps: [
                    .init(
                        method: "pool.create",
                        params: ["name": "shop", "developerProvider": "login.shop", "allowClassicFlow": true], result: ["poolId": "$pool"]),
                    .init(
                        method: "token.mintForDeveloper", params: ["poolId": "$pool", "logins": ["login.shop": "alice"]],
                        result: ["identityId": "$alice"]),
                ]),
            // A pool with two OpenID providers, and carol, who signed in with both: $pool, $carol.
            Fixture(
                name: "carol", given: [],
                steps: [
                    .init(
                        method: "pool.create",
                        params: [
                            "name": "shop",
                            "providers": [
                                ["issuer": "https://login.example.com", "clientIds": ["shop"], "keys": [exampleKey]],
                                ["issuer": "https://id.example.org", "clientIds": ["shop"], "keys": [exampleKey]],
                            ],
                        ], result: ["poolId": "$pool"]),
                    .init(
                        method: "identity.resolve",
                        params: ["poolId": "$pool", "logins": ["login.example.com": carolsToken, "id.example.org": carolsOtherToken]],
                        result: ["identityId": "$carol"]),
                ]),
            // That pool, with the default tag map for one of its providers.
            Fixture(
                name: "taggedPool", given: ["carol"],
                steps: [
                    .init(
                        method: "pool.setPrincipalTags",
                        params: ["poolId": "$pool", "provider": "login.example.com", "useDefaults": true], result: [:])
                ]),
            // A credential provider for a guest of a pool with a role for guests: $provider.
            Fixture(
                name: "guestProvider", given: ["guestWithRole"],
                steps: [
                    .init(
                        method: "credentialsProvider.open", params: ["poolId": "$pool", "key": "phone"], result: ["provider": "$provider"])
                ]),
            // A credential provider for alice, whose tokens the caller's own backend mints: $provider.
            Fixture(
                name: "callerProvider", given: ["poolWithRole"],
                steps: [
                    .init(
                        method: "credentialsProvider.open",
                        params: ["poolId": "$pool", "tokenSource": "caller", "logins": ["login.shop": "alice"]],
                        result: ["provider": "$provider"])
                ]),
            // That provider, waiting for a token, and the token: $continuationToken, $alice, $token.
            Fixture(
                name: "awaitedToken", given: ["callerProvider", "token"],
                steps: [
                    .init(
                        method: "credentialsProvider.get", params: ["provider": "$provider"],
                        result: ["continuationToken": "$continuationToken"])
                ]),
            // A tenant beside the default one: $tenantIssuer.
            Fixture(
                name: "tenant", given: [],
                steps: [.init(method: "tenant.create", params: ["tenantId": "shop"], result: ["issuer": "$tenantIssuer"])]),
            // A provider of the default tenant.
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
            // GitHub, whose endpoints are known.
            Fixture(
                name: "github", given: [],
                steps: [
                    .init(
                        method: "idp.create",
                        params: ["providerId": "github.com", "clientId": "Iv1.8a61f9b3a7aba766", "clientSecret": "correct-horse-battery"],
                        result: [:])
                ]),
            // An account of carol that knows nothing of that provider.
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
            // A session of alice, whose account has a login of that provider too.
            Fixture(
                name: "linkedSession", given: ["passwordSession", "idp"],
                steps: [
                    .init(
                        method: "account.link",
                        params: ["idToken": "$idToken", "credential": ["providerId": "oidc.work", "idToken": carolsToken]], result: [:])
                ]),
            // The default tenant, where anybody can have an account.
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
            // A sign-up of alice that waits for her code: $continuation, $code.
            Fixture(
                name: "signUp", given: [],
                steps: [
                    .init(
                        method: "signUp.start", params: ["username": "alice@example.com"],
                        result: ["state": "codeRequired", "continuationToken": "$continuation"]),
                    .init(method: "test.outbox", params: [:], result: ["messages": [["code": "$code"]]]),
                ]),
            // Her account, just made: $account, $signedUp.
            Fixture(
                name: "account", given: ["signUp"],
                steps: [
                    .init(
                        method: "signUp.submitCode", params: ["continuationToken": "$continuation", "code": "$code"],
                        result: ["state": "completed", "accountId": "$account", "continuationToken": "$signedUp"])
                ]),
            // A sign-in to it that waits for a code: $signInContinuation, $signInCode.
            Fixture(
                name: "signIn", given: ["account"],
                steps: [
                    .init(
                        method: "signIn.start", params: ["username": "alice@example.com"],
                        result: ["continuationToken": "$signInContinuation"]),
                    .init(method: "test.outbox", params: ["after": 1], result: ["messages": [["code": "$signInCode"]]]),
                ]),
            // A session of alice: $idToken, $accessToken, $refreshToken.
            Fixture(
                name: "session", given: ["account"],
                steps: [
                    .init(
                        method: "signIn.withContinuation", params: ["continuationToken": "$signedUp"],
                        result: ["idToken": "$idToken", "accessToken": "$accessToken", "refreshToken": "$refreshToken"])
                ]),
            // A change of her address that waits for its code: $emailContinuation, $emailCode.
            Fixture(
                name: "emailChange", given: ["session"],
                steps: [
                    .init(
                        method: "account.changeEmail", params: ["idToken": "$idToken", "email": "alice@example.org"],
                        result: ["state": "codeRequired", "continuationToken": "$emailContinuation"]),
                    .init(method: "test.outbox", params: ["to": "alice@example.org"], result: ["messages": [["code": "$emailCode"]]]),
                ]),
            // Somebody else's account: $bobsAccount.
            Fixture(
                name: "bobsAccount", given: [],
                steps: [.init(method: "account.create", params: ["username": "bob@example.com"], result: ["accountId": "$bobsAccount"])]),
            // The same with a password, and a session of it: $bobsAccount, $bobsIdToken.
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
            // A session of it: $idToken.
            Fixture(
                name: "passwordSession", given: ["passwordAccount"],
                steps: [
                    .init(
                        method: "signIn.withPassword", params: ["username": "alice@example.com", "password": "correct horse 9 Battery"],
                        result: ["idToken": "$idToken"])
                ]),
            // Its second factor, text messages, waiting for the first code: $continuation, $code.
            Fixture(
                name: "factorEnrolment", given: ["passwordSession"],
                steps: [
                    .init(
                        method: "mfa.enroll", params: ["idToken": "$idToken", "kind": "sms", "phoneNumber": "+4915112345678"],
                        result: ["continuationToken": "$continuation"]),
                    .init(method: "test.outbox", params: [:], result: ["messages": [["code": "$code"]]]),
                ]),
            // That factor, enrolled, and a session that has shown it: $factor, $freshIdToken.
            Fixture(
                name: "factor", given: ["factorEnrolment"],
                steps: [
                    .init(
                        method: "mfa.confirm", params: ["continuationToken": "$continuation", "code": "$code"],
                        result: ["idToken": "$freshIdToken", "account": ["factors": [["factorId": "$factor"]]]])
                ]),
            // A sign-in that waits for it: $secondContinuation.
            Fixture(
                name: "secondFactorRequired", given: ["factor"],
                steps: [
                    .init(
                        method: "signIn.withPassword", params: ["username": "alice@example.com", "password": "correct horse 9 Battery"],
                        result: ["state": "secondFactorRequired", "continuationToken": "$secondContinuation"])
                ]),
            // The same with its code on the way: $challenged, $secondCode.
            Fixture(
                name: "secondFactorChallenged", given: ["secondFactorRequired"],
                steps: [
                    .init(
                        method: "mfa.challenge", params: ["continuationToken": "$secondContinuation", "factorId": "$factor"],
                        result: ["continuationToken": "$challenged"]),
                    .init(method: "test.outbox", params: ["after": 1], result: ["messages": [["code": "$secondCode"]]]),
                ]),
            // A sign-in to it that waits for the password: $continuation.
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
            // The same after the code: $nextContinuation.
            Fixture(
                name: "passwordResetVerified", given: ["passwordReset"],
                steps: [
                    .init(
                        method: "passwordReset.submitCode", params: ["continuationToken": "$continuation", "code": "$resetCode"],
                        result: ["state": "passwordRequired", "continuationToken": "$nextContinuation"])
                ]),
            // The store under a master key that the caller has.
            Fixture(
                name: "ownKey", given: [],
                steps: [
                    .init(method: "store.rekey", params: ["newMasterKey": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"], result: [:])
                ]),
            // Temporary credentials of alice: $accessKeyId, $sessionToken.
            Fixture(
                name: "credentials", given: ["poolWithRole", "token"],
                steps: [
                    .init(
                        method: "credentials.get", params: ["token": "$token"],
                        result: ["credentials": ["accessKeyId": "$accessKeyId", "sessionToken": "$sessionToken"]])
                ]),
        ]
    }

    /// A provider's key, and tokens that it has signed: good until the year 2100.
    private static let exampleKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "example-1", "alg": "ES256", "use": "sig", "x": "e26ZvVIcsUUT9oamu4gZzAvkbG8Z3_ymL5iC6x4lePs",
        "y": "bvosK_FCdA5eBa5eAm3JU8tDoN0gLXD00LikirGRm-w",
    ]
    private static let carolsToken: JSONValue =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImV4YW1wbGUtMSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiY2Fyb2wiLCJhdWQiOiJzaG9wIiwiaWF0IjoxNjAwMDAwMDAwLCJleHAiOjQxMDI0NDQ4MDAsImVtYWlsIjoiY2Fyb2xAZXhhbXBsZS5jb20ifQ.Pjv2fEpMBxTDV7x1HptsvSpwbDz2gP_9DDuZCpHEzmJ9f8d1pIVphlZS34fDHXLn6XqtYdDvifUUS-jwKIRBlw"
    private static let carolsOtherToken: JSONValue =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImV4YW1wbGUtMSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUub3JnIiwic3ViIjoiY2Fyb2wtNyIsImF1ZCI6InNob3AiLCJpYXQiOjE2MDAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMH0.eadbAR-DqD26p3o4_wK_QubtGWgeezM_pCpe5NbofwSb6Cnmj6arAn6D4z4RCy8bB_cDr94i5g9sve5RoOMg2g"
    /// The key of a backend that signs custom tokens.
    private static let backendKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "backend-1", "alg": "ES256", "x": "UyahO3Ydh6ACmN8gmA_zkOsDFFxSh_xaraiJ4k-Khac",
        "y": "VkEf3Hc0kdSVkRPgcGgO0aoPOSOwtprV-8I7GMkN3t4",
    ]
}
