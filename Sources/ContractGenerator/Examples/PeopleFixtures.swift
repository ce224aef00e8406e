import JSON

extension Fixtures {
    /// Tenants, accounts with their sessions and second factors, and pending flows.
    static var people: [Fixture] {
        [
            // A tenant in addition to the default one: $tenantIssuer.
            Fixture(
                name: "tenant", given: [],
                steps: [.init(method: "tenant.create", params: ["tenantId": "shop"], result: ["issuer": "$tenantIssuer"])]),
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
            // A session of alice: $idToken, $accessToken, $refreshToken.
            Fixture(
                name: "session", given: ["account"],
                steps: [
                    .init(
                        method: "signIn.withContinuation", params: ["continuationToken": "$signedUp"],
                        result: ["idToken": "$idToken", "accessToken": "$accessToken", "refreshToken": "$refreshToken"])
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
