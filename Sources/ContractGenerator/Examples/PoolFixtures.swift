import JSON

extension Fixtures {
    /// Pools with their identities, tokens, roles and credentials providers, and the keys of the store.
    static var pools: [Fixture] {
        [
            // A pool with the developer provider login.shop: $pool, $issuer.
            Fixture(
                name: "pool", given: [],
                steps: [
                    .init(
                        method: "pool.create", params: ["name": "shop", "developerProvider": "login.shop"],
                        result: ["poolId": "$pool", "issuer": "$issuer"])
                ]),
            // A snapshot of the store with that pool: $rowCount.
            Fixture(
                name: "snapshot", given: ["pool"],
                steps: [.init(method: "test.snapshot", params: ["name": "a pool"], result: ["rows": "$rowCount"])]),
            // The key that signs the pool's tokens: $kid.
            Fixture(
                name: "key", given: ["pool"],
                steps: [.init(method: "key.list", params: ["poolId": "$pool"], result: ["keys": [["kid": "$kid", "state": "active"]]])]),
            // A role for the pool's signed-in identities, not yet assigned to the pool: $role.
            Fixture(
                name: "role", given: ["pool"],
                steps: [.init(method: "role.put", params: ["name": "reader", "poolId": "$pool"], result: ["roleArn": "$role"])]),
            // The pool with that role assigned.
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
            // A pool that allows guests and the classic flow: $pool.
            Fixture(
                name: "guestPool", given: [],
                steps: [
                    .init(
                        method: "pool.create", params: ["name": "shop", "allowUnauthenticated": true, "allowClassicFlow": true],
                        result: ["poolId": "$pool"])
                ]),
            // A guest of that pool: $guest.
            Fixture(
                name: "guest", given: ["guestPool"],
                steps: [.init(method: "identity.resolve", params: ["poolId": "$pool"], result: ["identityId": "$guest"])]),
            // A guest in a pool that has a role for guests: $guestRole.
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
            // That pool, with the default principal tags for one of its providers.
            Fixture(
                name: "taggedPool", given: ["carol"],
                steps: [
                    .init(
                        method: "pool.setPrincipalTags",
                        params: ["poolId": "$pool", "provider": "login.example.com", "useDefaults": true], result: [:])
                ]),
            // A credentials provider for a guest in a pool with a role for guests: $provider.
            Fixture(
                name: "guestProvider", given: ["guestWithRole"],
                steps: [
                    .init(
                        method: "credentialsProvider.open", params: ["poolId": "$pool", "key": "phone"], result: ["provider": "$provider"])
                ]),
            // A credentials provider for alice, whose tokens the application's backend mints: $provider.
            Fixture(
                name: "callerProvider", given: ["poolWithRole"],
                steps: [
                    .init(
                        method: "credentialsProvider.open",
                        params: ["poolId": "$pool", "tokenSource": "caller", "logins": ["login.shop": "alice"]],
                        result: ["provider": "$provider"])
                ]),
            // That credentials provider, waiting for a token, and the token: $continuationToken, $alice, $token.
            Fixture(
                name: "awaitedToken", given: ["callerProvider", "token"],
                steps: [
                    .init(
                        method: "credentialsProvider.get", params: ["provider": "$provider"],
                        result: ["continuationToken": "$continuationToken"])
                ]),
            // A store that issues tokens for sessions: $accountIssuer.
            Fixture(
                name: "outboundFederation", given: [],
                steps: [.init(method: "token.outboundFederation", params: ["enabled": true], result: ["issuer": "$accountIssuer"])]),
            // The store with a master key that the caller provides.
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
}
