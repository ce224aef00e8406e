/// The names of this deployment that are part of all issuers, identifiers and ARNs.
public struct Deployment: Hashable, Sendable {
    /// The base of every issuer: an HTTPS URL without a trailing slash.
    public let issuer: String
    /// The first part of pool and identity IDs.
    public let region: String
    /// The account number in ARNs.
    public let account: String
    /// The partition in ARNs, derived from the region.
    package let partition: String

    public init(issuer: String = "https://mintmark.localhost", region: String = "local-1", account: String = "000000000000") {
        partition = Self.partitions.first { region.hasPrefix($0.key) }?.value ?? "aws"
        self.issuer = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        self.region = region
        self.account = account
    }

    /// The AWS partitions by region prefix. All other regions belong to `aws`.
    private static let partitions: KeyValuePairs = [
        "cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b", "eu-isoe-": "aws-iso-e",
        "us-isof-": "aws-iso-f", "eusc-": "aws-eusc",
    ]

    /// Returns the issuer of the tokens that `owner` signs.
    package func issuer(of owner: KeyOwner) -> String { "\(issuer)/\(owner.path)" }

    /// Returns the owner of the keys of `issuer`, or `nil` if the issuer does not belong to this deployment.
    package func owner(ofIssuer issuer: String) -> KeyOwner? {
        guard issuer.hasPrefix(self.issuer + "/") else { return nil }
        return KeyOwner(path: String(issuer.dropFirst(self.issuer.count + 1)))
    }

    /// Returns the ARN of a pool.
    package func arn(ofPool id: String) -> String { "arn:\(partition):cognito-identity:\(region):\(account):identitypool/\(id)" }

    /// Returns the ARN of an OpenID Connect provider.
    package func arn(ofOpenIDProvider name: String) -> String { "arn:\(partition):iam::\(account):oidc-provider/\(name)" }

    /// Returns the ARN of an OpenID Connect provider with the partition `aws`, which policies from elsewhere contain.
    package func formerARN(ofOpenIDProvider name: String) -> String { "arn:aws:iam::\(account):oidc-provider/\(name)" }

    /// Returns the name of the OpenID Connect provider with this ARN, or `nil` if it is not a provider of this account.
    package func openIDProviderName(of arn: String) -> String? {
        for prefix in [self.arn(ofOpenIDProvider: ""), formerARN(ofOpenIDProvider: "")]
        where arn.hasPrefix(prefix) && arn.utf8.count > prefix.utf8.count {
            return String(arn.dropFirst(prefix.count))
        }
        return nil
    }

    /// Returns the ARN of a role.
    package func arn(ofRole name: String) -> String { "arn:\(partition):iam::\(account):role/\(name)" }

    /// Returns the name of the role with this ARN, or `nil` if it is not a role of this account.
    package func roleName(of arn: String) -> String? {
        for prefix in [self.arn(ofRole: ""), formerARN(ofRole: "")] where arn.hasPrefix(prefix) && arn.utf8.count > prefix.utf8.count {
            return String(arn.dropFirst(prefix.count))
        }
        return nil
    }

    /// Returns the ARN of a role in the format of earlier versions, with the partition `aws` in all regions. Existing stores contain such
    /// ARNs.
    package func formerARN(ofRole name: String) -> String { "arn:aws:iam::\(account):role/\(name)" }

    /// Returns the ARN of a role session (`AssumedRoleUser.Arn` of AWS STS).
    package func arn(ofSession name: String, role: String) -> String { "arn:\(partition):sts::\(account):assumed-role/\(role)/\(name)" }
}

/// The owner of signing keys: a pool, a tenant or the account of the store. Each has its own keys.
public enum KeyOwner: Hashable, Sendable {
    case pool(String)
    case tenant(String)
    /// The account in ARNs, which signs the tokens of `token.mintForSession`. It has one key for each of its algorithms.
    case account(String)

    /// The path below the deployment's issuer. It is also the name under which the keys are stored.
    package var path: String { folder + id }

    var id: String {
        switch self {
        case .pool(let id), .tenant(let id), .account(let id): id
        }
    }
    package var poolId: String? { if case .pool(let id) = self { id } else { nil } }
    package var tenantId: String? { if case .tenant(let id) = self { id } else { nil } }

    package var isAccount: Bool { if case .account = self { true } else { false } }

    fileprivate var folder: String {
        switch self {
        case .pool: "pools/"
        case .tenant: "tenants/"
        case .account: "accounts/"
        }
    }

    package init?(path: String) {
        for (folder, owner) in [("pools/", Self.pool), ("tenants/", Self.tenant), ("accounts/", Self.account)] where path.hasPrefix(folder)
        {
            let id = String(path.dropFirst(folder.count))
            guard !id.isEmpty, !id.utf8.contains(0) else { return nil }
            self = owner(id)
            return
        }
        return nil
    }
}
