import Contract
import IdentityPools
import JSON

/// The operations that exchange logins for identities, tokens and credentials.
extension CognitoOperation {
    static let logins: [CognitoOperation] = [
        CognitoOperation(
            "GetId", isPublic: true,
            [
                .required("IdentityPoolId", .id), .optional("AccountId", .texts(1...15, .some(#"\d+"#) { "0"..."9" ~= $0 })),
                .optional("Logins", .logins),
            ]
        ) { call in
            let found = try call.run(
                IdentityResolve.self, ["IdentityPoolId": "poolId", "Logins": "logins"], call.service.identity.resolve)
            return ["IdentityId": .string(found.identityId)]
        },
        CognitoOperation("GetOpenIdToken", isPublic: true, [.required("IdentityId", .id), .optional("Logins", .logins)]) { call in
            let minted = try call.run(TokenMint.self, ["IdentityId": "identityId", "Logins": "logins"], call.service.token.mint)
            return ["IdentityId": .string(minted.identityId), "Token": .string(minted.token)]
        },
        CognitoOperation(
            "GetOpenIdTokenForDeveloperIdentity",
            [
                .required("IdentityPoolId", .id), .optional("IdentityId", .id), .required("Logins", .logins),
                .optional("PrincipalTags", .map(WireText(length: 1...128), to: .texts(1...256), 0...50)),
                .optional("TokenDuration", .integer(1...86400)),
            ]
        ) { call in
            let minted = try call.run(
                TokenMintForDeveloper.self,
                [
                    "IdentityPoolId": "poolId", "IdentityId": "identityId", "Logins": "logins", "PrincipalTags": "principalTags",
                    "TokenDuration": "durationSeconds",
                ], call.service.token.mintForDeveloper)
            return ["IdentityId": .string(minted.identityId), "Token": .string(minted.token)]
        },
        CognitoOperation(
            "GetCredentialsForIdentity", isPublic: true,
            [.required("IdentityId", .id), .optional("Logins", .logins), .optional("CustomRoleArn", .arn)]
        ) { call in
            let got = try call.enhanced()
            return [
                "IdentityId": .string(got.identityId),
                "Credentials": [
                    "AccessKeyId": .string(got.credentials.accessKeyId), "SecretKey": .string(got.credentials.secretAccessKey),
                    "SessionToken": .string(got.credentials.sessionToken),
                    "Expiration": .number(JSONNumber(got.credentials.expiresAt)),
                ],
            ]
        },
        CognitoOperation(
            "UnlinkIdentity", isPublic: true,
            [.required("IdentityId", .id), .required("Logins", .logins), .required("LoginsToRemove", .list(of: .provider, WireShape.any))]
        ) { call in
            _ = try call.run(
                IdentityUnlink.self, ["IdentityId": "identityId", "Logins": "logins", "LoginsToRemove": "loginsToRemove"],
                call.service.identity.unlink)
            return nil
        },
    ]
}

extension CognitoCall {
    /// Returns credentials in the enhanced flow. An error of the tags is an error of the pool configuration in this flow.
    fileprivate func enhanced() throws -> CredentialsGet.Result {
        do { return try credentials() } catch is InvalidPrincipalTags { throw WireError.poolConfiguration }
    }

    /// Exchanges a token of the pool, or public logins.
    fileprivate func credentials() throws -> CredentialsGet.Result {
        let logins = input["Logins"]?.object ?? [:]
        guard logins[LoginProvider.poolTokenName] == nil || logins.count == 1 else {
            throw WireError.invalidParameter("\(LoginProvider.poolTokenName) must be the only entry in Logins.")
        }
        return try run(
            CredentialsGet.self, ["IdentityId": "identityId", "Logins": "logins", "CustomRoleArn": "customRoleArn"],
            service.credentials.get)
    }
}
