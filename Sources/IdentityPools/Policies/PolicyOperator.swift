/// The operators of conditions, without set prefix and `IfExists`, as in AWS IAM.
enum PolicyOperator: String, CaseIterable, Sendable {
    case stringEquals = "StringEquals"
    case stringNotEquals = "StringNotEquals"
    case stringEqualsIgnoreCase = "StringEqualsIgnoreCase"
    case stringNotEqualsIgnoreCase = "StringNotEqualsIgnoreCase"
    case stringLike = "StringLike"
    case stringNotLike = "StringNotLike"
    case arnEquals = "ArnEquals"
    case arnLike = "ArnLike"
    case arnNotEquals = "ArnNotEquals"
    case arnNotLike = "ArnNotLike"
    case numericEquals = "NumericEquals"
    case numericNotEquals = "NumericNotEquals"
    case numericLessThan = "NumericLessThan"
    case numericLessThanEquals = "NumericLessThanEquals"
    case numericGreaterThan = "NumericGreaterThan"
    case numericGreaterThanEquals = "NumericGreaterThanEquals"
    case dateEquals = "DateEquals"
    case dateNotEquals = "DateNotEquals"
    case dateLessThan = "DateLessThan"
    case dateLessThanEquals = "DateLessThanEquals"
    case dateGreaterThan = "DateGreaterThan"
    case dateGreaterThanEquals = "DateGreaterThanEquals"
    case bool = "Bool"
    case binaryEquals = "BinaryEquals"
    case ipAddress = "IpAddress"
    case notIpAddress = "NotIpAddress"
    case null = "Null"

    /// The comparison of a value of the request with one of the policy.
    enum Comparison: Hashable, Sendable {
        case text(ignoringCase: Bool)
        /// Each of the six parts of an ARN is compared as text.
        case arn
        case number(Relation)
        case date(Relation)
        case truth
        /// The policy has the bytes in base64.
        case bytes
        /// An IP address is compared with ranges of addresses.
        case address
        case presence
    }

    enum Relation: Hashable, Sendable {
        case equal, less, lessOrEqual, greater, greaterOrEqual

        func holds<V: Comparable>(_ value: V, _ bound: V) -> Bool {
            switch self {
            case .equal: value == bound
            case .less: value < bound
            case .lessOrEqual: value <= bound
            case .greater: value > bound
            case .greaterOrEqual: value >= bound
            }
        }
    }

    /// Whether the operator requires that no value of the policy matches.
    var isNegated: Bool {
        switch self {
        case .stringNotEquals, .stringNotEqualsIgnoreCase, .stringNotLike, .arnNotEquals, .arnNotLike, .numericNotEquals, .dateNotEquals,
            .notIpAddress:
            true
        default: false
        }
    }

    var hasWildcards: Bool { rawValue.hasSuffix("Like") || comparison == .arn }

    /// Whether values can contain policy variables, which are supported only in text.
    var hasVariables: Bool {
        switch comparison {
        case .text, .arn: true
        case .number, .date, .truth, .bytes, .address, .presence: false
        }
    }

    var comparison: Comparison {
        switch self {
        case .stringEquals, .stringNotEquals, .stringLike, .stringNotLike: .text(ignoringCase: false)
        case .stringEqualsIgnoreCase, .stringNotEqualsIgnoreCase: .text(ignoringCase: true)
        case .arnEquals, .arnLike, .arnNotEquals, .arnNotLike: .arn
        case .numericEquals, .numericNotEquals: .number(.equal)
        case .numericLessThan: .number(.less)
        case .numericLessThanEquals: .number(.lessOrEqual)
        case .numericGreaterThan: .number(.greater)
        case .numericGreaterThanEquals: .number(.greaterOrEqual)
        case .dateEquals, .dateNotEquals: .date(.equal)
        case .dateLessThan: .date(.less)
        case .dateLessThanEquals: .date(.lessOrEqual)
        case .dateGreaterThan: .date(.greater)
        case .dateGreaterThanEquals: .date(.greaterOrEqual)
        case .bool: .truth
        case .binaryEquals: .bytes
        case .ipAddress, .notIpAddress: .address
        case .null: .presence
        }
    }
}
