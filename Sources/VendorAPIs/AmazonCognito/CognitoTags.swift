import Contract
import IdentityPools
import JSON
import ServiceContext

/// The operations for tags of pools.
extension CognitoOperation {
    static let tags: [CognitoOperation] = [
        CognitoOperation("TagResource", [.required("ResourceArn", .arn), .required("Tags", .tags)]) { call in
            _ = try call.run(PoolTag.self, ["Tags": "tags"], adding: ["poolId": try call.taggedPool()], call.service.pool.tag)
            return [:]
        },
        CognitoOperation(
            "UntagResource", [.required("ResourceArn", .arn), .required("TagKeys", .list(of: .texts(1...128), WireShape.any))]
        ) { call in
            _ = try call.run(PoolUntag.self, ["TagKeys": "tagKeys"], adding: ["poolId": try call.taggedPool()], call.service.pool.untag)
            return [:]
        },
        CognitoOperation("ListTagsForResource", [.required("ResourceArn", .arn)]) { call in
            let pool = try call.run(PoolGet.self, [:], adding: ["poolId": try call.taggedPool()], call.service.pool.get)
            return ["Tags": .object(pool.tags.object)]
        },
    ]
}

extension CognitoCall {
    /// Returns the ID of the pool that `ResourceArn` identifies.
    fileprivate func taggedPool() throws -> JSONValue {
        let arn = text("ResourceArn") ?? ""
        let prefix = realm.arn(ofPool: "")
        let id = String(arn.dropFirst(prefix.count))
        guard arn.hasPrefix(prefix), WireText(length: 1...55, pattern: .id).breaches(of: id).isEmpty else {
            throw WireError("ResourceNotFoundException", "Resource '\(arn)' not found.")
        }
        return .string(id)
    }
}
