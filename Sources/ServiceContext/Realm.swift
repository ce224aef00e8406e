/// What this installation calls itself: the parts of issuers, identifiers and ARNs that are the same for everything in it.
public struct Realm: Hashable, Sendable {
    /// The base of every issuer, an https URL without a trailing slash.
    public let issuer: String
    /// The first part of pool and identity ids.
    public let region: String
    /// The account number in ARNs.
    public let account: String
    /// The second part of ARNs, which follows from the region.
    package let partition: String

    public init(issuer: String = "https://mintmark.localhost", region: String = "local-1", account: String = "000000000000") {
        partition = Self.partitions.first { region.hasPrefix($0.key) }?.value ?? "aws"
        self.issuer = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        self.region = region
        self.account = account
    }

    /// The partitions of AWS by the beginnings of their regions; all others belong to `aws`.
    private static let partitions: KeyValuePairs = [
        "cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b", "eu-isoe-": "aws-iso-e",
        "us-isof-": "aws-iso-f", "eusc-": "aws-eusc",
    ]

    /// The issuer of what `owner` signs.
    package func issuer(of owner: KeyOwner) -> String { "\(issuer)/\(owner.path)" }

    /// Who signs as `issuer`, nil if nobody here does.
    package func owner(ofIssuer issuer: String) -> KeyOwner? {
        guard issuer.hasPrefix(self.issuer + "/") else { return nil }
        return KeyOwner(path: String(issuer.dropFirst(self.issuer.count + 1)))
    }

    /// The ARN of a pool (cognito.md 1.2).
    package func arn(ofPool id: String) -> String { "arn:\(partition):cognito-identity:\(region):\(account):identitypool/\(id)" }

    /// The ARN of an OpenID provider (cognito.md 1.4).
    package func arn(ofOpenIDProvider name: String) -> String { "arn:\(partition):iam::\(account):oidc-provider/\(name)" }

    /// The ARN of a role.
    package func arn(ofRole name: String) -> String { "arn:\(partition):iam::\(account):role/\(name)" }

    /// The name of the role that `arn` stands for, nil if it is no role of this account.
    package func roleName(of arn: String) -> String? {
        for prefix in [self.arn(ofRole: ""), formerARN(ofRole: "")] where arn.hasPrefix(prefix) && arn.utf8.count > prefix.utf8.count {
            return String(arn.dropFirst(prefix.count))
        }
        return nil
    }

    /// The ARN of a role as earlier versions wrote it, in the partition `aws` wherever the region was. Stores have such ARNs.
    package func formerARN(ofRole name: String) -> String { "arn:aws:iam::\(account):role/\(name)" }

    /// The ARN of a role's session (AssumedRoleUser.Arn, cognito.md 3.8).
    package func arn(ofSession name: String, role: String) -> String { "arn:\(partition):sts::\(account):assumed-role/\(role)/\(name)" }
}

/// Whose signing keys they are. Each pool and each tenant signs with its own.
public enum KeyOwner: Hashable, Sendable {
    case pool(String)
    case tenant(String)

    /// The path below the realm's issuer; it is also the name under which keys are stored.
    package var path: String { folder + id }

    var id: String {
        switch self {
        case .pool(let id), .tenant(let id): id
        }
    }
    package var poolId: String? { if case .pool(let id) = self { id } else { nil } }
    package var tenantId: String? { if case .tenant(let id) = self { id } else { nil } }

    fileprivate var folder: String {
        switch self {
        case .pool: "pools/"
        case .tenant: "tenants/"
        }
    }

    package init?(path: String) {
        for (folder, owner) in [("pools/", Self.pool), ("tenants/", Self.tenant)] where path.hasPrefix(folder) {
            let id = String(path.dropFirst(folder.count))
            guard !id.isEmpty, !id.utf8.contains(0) else { return nil }
            self = owner(id)
            return
        }
        return nil
    }
}
