import Contract
import IdentityPools
import JSON

/// The operations for pools.
extension CognitoOperation {
    private static let settings: [WireMember] = [
        .required("IdentityPoolName", .poolName),
        .required("AllowUnauthenticatedIdentities", .boolean),
        .optional("AllowClassicFlow", .boolean),
        .optional(
            "SupportedLoginProviders", .map(WireText(length: 1...128), to: .texts(1...128, .word(#"[\w.;_/-]+"#, and: ".;/-")), 0...10)),
        .optional("DeveloperProviderName", .developerProvider),
        .optional("OpenIdConnectProviderARNs", .list(of: .arn, WireShape.any)),
        .optional(
            "CognitoIdentityProviders",
            .list(
                of: .structure([
                    .optional("ProviderName", .texts(1...128, .word(#"[\w._:/-]+"#, and: ".:/-"))),
                    .optional("ClientId", .texts(1...128, .word(#"[\w_]+"#, and: ""))),
                    .optional("ServerSideTokenCheck", .boolean),
                ]), WireShape.any)),
        .optional("SamlProviderARNs", .list(of: .arn, WireShape.any)),
        .optional("IdentityPoolTags", .tags),
    ]

    /// The members that have the same format in both.
    private static let names: KeyValuePairs<String, String> = [
        "IdentityPoolId": "poolId", "IdentityPoolName": "name", "AllowUnauthenticatedIdentities": "allowUnauthenticated",
        "AllowClassicFlow": "allowClassicFlow", "DeveloperProviderName": "developerProvider", "IdentityPoolTags": "tags",
    ]

    static let pools: [CognitoOperation] = [
        CognitoOperation("CreateIdentityPool", settings) { call in
            let providers = try CognitoProviders(call.realm, trustedIssuer: call.service.issuer.settings).settings(call.input, keeping: [])
            return call.answer(try call.run(PoolCreate.self, names, adding: ["providers": providers], call.service.pool.create))
        },
        CognitoOperation("DescribeIdentityPool", [.required("IdentityPoolId", .id)]) { call in call.answer(try call.pool()) },
        CognitoOperation("UpdateIdentityPool", [.required("IdentityPoolId", .id)] + settings) { call in
            let providers = try CognitoProviders(call.realm, trustedIssuer: call.service.issuer.settings)
                .settings(call.input, keeping: try call.pool().providers)
            return call.answer(try call.run(PoolUpdate.self, names, adding: ["providers": providers], call.service.pool.update))
        },
        CognitoOperation("DeleteIdentityPool", [.required("IdentityPoolId", .id)]) { call in
            _ = try call.run(PoolDelete.self, ["IdentityPoolId": "poolId"], call.service.pool.delete)
            return nil
        },
        CognitoOperation("ListIdentityPools", [.required("MaxResults", .pageSize), .optional("NextToken", .pageToken)]) { call in
            let page = try call.run(PoolList.self, ["MaxResults": "limit", "NextToken": "cursor"], call.service.pool.list)
            let pools = page.pools.map { JSONValue.object(["IdentityPoolId": .string($0.poolId), "IdentityPoolName": .string($0.name)]) }
            var answer: JSONObject = ["IdentityPools": .array(pools)]
            answer["NextToken"] = page.nextCursor.map { .string($0) }
            return answer
        },
    ]
}

extension CognitoCall {
    /// Returns a pool in the format of the service. Unset members are omitted, except for the tags.
    func answer(_ pool: Pool) -> JSONObject {
        var answer: JSONObject = [
            "IdentityPoolId": .string(pool.poolId), "IdentityPoolName": .string(pool.name),
            "AllowUnauthenticatedIdentities": .bool(pool.allowUnauthenticated), "AllowClassicFlow": .bool(pool.allowClassicFlow),
        ]
        for (name, value) in CognitoProviders(realm).answer(pool.providers).members { answer[name] = value }
        answer["DeveloperProviderName"] = pool.developerProvider.map { .string($0) }
        answer["IdentityPoolTags"] = .object(pool.tags.object)
        return answer
    }
}
