import Contract
import IdentityPools
import JSON

/// The developer operations for identities.
extension CognitoOperation {
    static let identities: [CognitoOperation] = [
        CognitoOperation("DescribeIdentity", [.required("IdentityId", .id)]) { call in
            answer(try call.run(IdentityGet.self, ["IdentityId": "identityId"], call.service.identity.get))
        },
        CognitoOperation(
            "ListIdentities",
            [
                .required("IdentityPoolId", .id), .required("MaxResults", .pageSize), .optional("NextToken", .pageToken),
                .optional("HideDisabled", .boolean),
            ]
        ) { call in
            let page = try call.run(
                IdentityList.self,
                ["IdentityPoolId": "poolId", "MaxResults": "limit", "NextToken": "cursor", "HideDisabled": "hideDisabled"],
                call.service.identity.list)
            var answer: JSONObject = [
                "IdentityPoolId": .string(page.poolId), "Identities": .array(page.identities.map { .object(Self.answer($0)) }),
            ]
            answer["NextToken"] = page.nextCursor.map { .string($0) }
            return answer
        },
        CognitoOperation("DeleteIdentities", [.required("IdentityIdsToDelete", .list(of: .id, 1...60))]) { call in
            let done = try call.run(IdentityDelete.self, ["IdentityIdsToDelete": "identityIds"], call.service.identity.delete)
            let unprocessed = done.unprocessed.map { identity -> JSONValue in
                let code = identity.errorCode == "accessDenied" ? "AccessDenied" : "InternalServerError"
                return ["IdentityId": .string(identity.identityId), "ErrorCode": .string(code)]
            }
            return ["UnprocessedIdentityIds": .array(unprocessed)]
        },
        CognitoOperation(
            "LookupDeveloperIdentity",
            [
                .required("IdentityPoolId", .id), .optional("IdentityId", .id), .optional("DeveloperUserIdentifier", .developerUser),
                .optional("MaxResults", .pageSize), .optional("NextToken", .pageToken),
            ]
        ) { call in
            guard call.input["IdentityId"] != nil || call.input["DeveloperUserIdentifier"] != nil else {
                throw WireError.invalidParameter("Please provide an IdentityId or a DeveloperUserIdentifier")
            }
            let found = try call.run(
                IdentityLookupDeveloper.self,
                [
                    "IdentityPoolId": "poolId", "IdentityId": "identityId", "DeveloperUserIdentifier": "developerUserIdentifier",
                    "MaxResults": "limit", "NextToken": "cursor",
                ], call.service.identity.lookupDeveloper)
            var answer: JSONObject = [
                "IdentityId": .string(found.identityId),
                "DeveloperUserIdentifierList": .array(found.developerUserIdentifiers.map { .string($0) }),
            ]
            answer["NextToken"] = found.nextCursor.map { .string($0) }
            return answer
        },
        CognitoOperation(
            "MergeDeveloperIdentities",
            [
                .required("SourceUserIdentifier", .developerUser), .required("DestinationUserIdentifier", .developerUser),
                .required("DeveloperProviderName", .developerProvider), .required("IdentityPoolId", .id),
            ]
        ) { call in
            let merged = try call.run(
                IdentityMergeDevelopers.self,
                [
                    "SourceUserIdentifier": "sourceUserIdentifier", "DestinationUserIdentifier": "destinationUserIdentifier",
                    "DeveloperProviderName": "developerProvider", "IdentityPoolId": "poolId",
                ], call.service.identity.mergeDevelopers)
            return ["IdentityId": .string(merged.identityId)]
        },
        CognitoOperation(
            "UnlinkDeveloperIdentity",
            [
                .required("IdentityId", .id), .required("IdentityPoolId", .id), .required("DeveloperProviderName", .developerProvider),
                .required("DeveloperUserIdentifier", .developerUser),
            ]
        ) { call in
            _ = try call.run(
                IdentityUnlinkDeveloper.self,
                [
                    "IdentityId": "identityId", "IdentityPoolId": "poolId", "DeveloperProviderName": "developerProvider",
                    "DeveloperUserIdentifier": "developerUserIdentifier",
                ], call.service.identity.unlinkDeveloper)
            return nil
        },
    ]

    /// Returns an identity in the format of the service. A guest has no logins.
    private static func answer(_ identity: IdentityDescription) -> JSONObject {
        var answer: JSONObject = ["IdentityId": .string(identity.identityId)]
        if !identity.logins.isEmpty { answer["Logins"] = .array(identity.logins.map { .string($0) }) }
        answer["CreationDate"] = .number(JSONNumber(identity.createdAt))
        answer["LastModifiedDate"] = .number(JSONNumber(identity.updatedAt))
        return answer
    }
}
