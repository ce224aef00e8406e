import Contract
import IdentityPools
import JSON
import ServiceContext

/// The operations for roles, role mappings and tag maps of pools.
extension CognitoOperation {
    private static let rule = WireShape.structure([
        .required("Claim", .texts(1...64, WirePattern.some(#"[\p{L}\p{M}\p{S}\p{N}\p{P}]+"#, isClaimCharacter))),
        .required("MatchType", .oneOf(["Equals", "Contains", "StartsWith", "NotEqual"])),
        .required("Value", .texts(1...128)),
        .required("RoleARN", .arn),
    ])

    private static let mapping = WireShape.structure([
        .required("Type", .oneOf(["Token", "Rules"])),
        .optional("AmbiguousRoleResolution", .oneOf(["AuthenticatedRole", "Deny"])),
        .optional("RulesConfiguration", .structure([.required("Rules", .list(of: rule, 1...400))])),
    ])

    private static let isClaimCharacter: @Sendable (Unicode.Scalar) -> Bool = { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    private static let ofProvider: [WireMember] = [.required("IdentityPoolId", .id), .required("IdentityProviderName", .provider)]

    static let poolRecords: [CognitoOperation] = [
        CognitoOperation(
            "SetIdentityPoolRoles",
            [
                .required("IdentityPoolId", .id),
                .required("Roles", .map(WireText(length: 1...128, pattern: .roleType), to: .arn, 0...2)),
                .optional("RoleMappings", .map(WireText(length: 1...128), to: mapping, 0...10)),
            ]
        ) { call in
            var others = JSONObject()
            if let mappings = call.input["RoleMappings"]?.object {
                others["mappings"] = .object(try CognitoMappings(call.realm, try call.pool()).params(mappings))
            }
            _ = try call.run(
                PoolSetRoles.self, ["IdentityPoolId": "poolId", "Roles": "roles"], adding: others, call.service.pool.setRoles)
            return nil
        },
        CognitoOperation("GetIdentityPoolRoles", [.required("IdentityPoolId", .id)]) { call in
            let record = try call.run(PoolGetRoles.self, ["IdentityPoolId": "poolId"], call.service.pool.getRoles)
            var roles = JSONObject()
            roles["authenticated"] = record.roles.authenticated.map { .string($0) }
            roles["unauthenticated"] = record.roles.unauthenticated.map { .string($0) }
            var answer: JSONObject = ["IdentityPoolId": .string(record.poolId), "Roles": .object(roles)]
            if let mappings = record.mappings {
                answer["RoleMappings"] = .object(CognitoMappings(call.realm, try call.pool()).answer(mappings))
            }
            return answer
        },
        CognitoOperation(
            "SetPrincipalTagAttributeMap",
            ofProvider + [
                .optional("UseDefaults", .boolean),
                .optional("PrincipalTags", .map(WireText(length: 1...128), to: .texts(1...256), 0...50)),
            ]
        ) { call in
            let provider = try call.taggedProvider()
            return call.answer(
                try call.run(
                    PoolSetPrincipalTags.self,
                    ["IdentityPoolId": "poolId", "UseDefaults": "useDefaults", "PrincipalTags": "principalTags"],
                    adding: ["provider": .string(provider)], call.service.pool.setPrincipalTags))
        },
        CognitoOperation("GetPrincipalTagAttributeMap", ofProvider) { call in
            let provider = try call.taggedProvider()
            return call.answer(
                try call.run(
                    PoolGetPrincipalTags.self, ["IdentityPoolId": "poolId"], adding: ["provider": .string(provider)],
                    call.service.pool.getPrincipalTags))
        },
    ]
}

extension CognitoCall {
    /// Returns the provider that `IdentityProviderName` identifies.
    fileprivate func taggedProvider() throws -> String {
        let providers = CognitoProviders(realm)
        guard let found = try pool().providers.first(where: { providers.tagKey($0) == text("IdentityProviderName") }) else {
            throw WireError.invalidParameter("Please provide a valid public provider")
        }
        return found.name
    }

    fileprivate func answer(_ map: PrincipalTagMap) -> JSONObject {
        [
            "IdentityPoolId": .string(map.poolId), "IdentityProviderName": input["IdentityProviderName"] ?? .string(map.provider),
            "UseDefaults": .bool(map.useDefaults), "PrincipalTags": .object(map.principalTags.object),
        ]
    }
}

/// Converts role mappings from and to the format of the service.
private struct CognitoMappings {
    private let keys: [(ours: String, theirs: String)]

    init(_ realm: Deployment, _ pool: Pool) { keys = pool.providers.flatMap(CognitoProviders(realm).mappingKeys) }

    /// - Throws: `WireError` if the pool does not have the provider or app client.
    func params(_ mappings: JSONObject) throws -> JSONObject {
        var params = JSONObject()
        for (key, mapping) in mappings.members {
            guard let ourKey = keys.first(where: { $0.theirs == key })?.ours else {
                throw WireError.invalidParameter("\(key) is not a valid RoleMapping ProviderName or is not a configured provider.")
            }
            guard let ambiguous = mapping["AmbiguousRoleResolution"]?.string else {
                throw WireError.invalidParameter("AmbiguousRoleResolution is required for the RoleMapping of \(key).")
            }
            let isToken = mapping["Type"]?.string == "Token"
            let rules = mapping["RulesConfiguration"]?["Rules"]?.array
            if isToken != (rules == nil) {
                throw WireError.invalidParameter(
                    "RulesConfiguration is \(isToken ? "allowed only for Type Rules" : "required") in the RoleMapping of \(key).")
            }
            if let count = rules?.count, count > 25 {
                throw WireError.invalidParameter("The RoleMapping of \(key) has \(count) Rules; the maximum is 25.")
            }
            var ours: JSONObject = [
                "source": isToken ? "token" : "rules", "ambiguousRoleResolution": ambiguous == "Deny" ? "deny" : "authenticatedRole",
            ]
            ours["rules"] = rules.map { .array($0.map(rule)) }
            params[ourKey] = .object(ours)
        }
        return params
    }

    private func rule(_ rule: JSONValue) -> JSONValue {
        let type = rule["MatchType"]?.string ?? ""
        return .object([
            "claim": rule["Claim"] ?? .null, "matchType": .string(type.prefix(1).lowercased() + type.dropFirst()),
            "value": rule["Value"] ?? .null, "roleArn": rule["RoleARN"] ?? .null,
        ])
    }

    func answer(_ mappings: Members<RoleMapping>) -> JSONObject {
        var answer = JSONObject()
        for mapping in mappings {
            answer[keys.first { $0.ours == mapping.name }?.theirs ?? mapping.name] = self.answer(mapping.value)
        }
        return answer
    }

    private func answer(_ mapping: RoleMapping) -> JSONValue {
        func capitalised(_ name: String) -> JSONValue { .string(name.prefix(1).uppercased() + name.dropFirst()) }
        var answer: JSONObject = [
            "Type": capitalised(mapping.source.rawValue), "AmbiguousRoleResolution": capitalised(mapping.ambiguousRoleResolution.rawValue),
        ]
        if let rules = mapping.rules {
            answer["RulesConfiguration"] = [
                "Rules": .array(
                    rules.map { rule in
                        [
                            "Claim": .string(rule.claim), "MatchType": capitalised(rule.matchType.rawValue), "Value": .string(rule.value),
                            "RoleARN": .string(rule.roleArn),
                        ]
                    })
            ]
        }
        return .object(answer)
    }
}
