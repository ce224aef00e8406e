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
