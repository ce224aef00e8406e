import Contract
import Platform

/// A named group of tools for `--tools`.
enum Toolset: String, CaseIterable {
    case accounts, signin, pools, credentials, keys, audit, store, testing, `default`, all

    func contains(_ name: String, _ info: MethodInfo?) -> Bool {
        switch self {
        case .all: true
        case .default: Self.common.contains(name)
        default: info.map { namespaces.contains(String($0.name.prefix { $0 != "." })) } ?? false
        }
    }

    private var namespaces: Set<String> {
        switch self {
        case .accounts: ["account", "application", "tenant", "idp", "session", "mfa", "passkey"]
        case .signin: ["signIn", "signUp", "passwordReset", "mfa", "passkey", "session", "idp"]
        case .pools: ["pool", "identity", "role"]
        case .credentials: ["credentials", "credentialsProvider", "token", "role", "compat"]
        case .keys: ["key", "token"]
        case .audit: ["audit", "events"]
        case .store: ["store", "system"]
        case .testing: ["test"]
        case .default, .all: []
        }
    }

    /// The tools of the default list, at every level. A test limits the size of the list with the level `read`.
    private static let common: Set = [
        ToolTable.describeName, "account_find", "account_get", "account_graph", "account_list", "application_list", "audit_list",
        "audit_verify",
        "identity_get",
        "identity_list", "idp_list", "idp_test", "key_list", "mfa_list", "pool_get", "pool_getRoles", "pool_list", "role_list",
        "session_list", "store_stats", "system_health", "system_info", "system_ping", "tenant_get", "tenant_list", "token_jwks",
        "account_create",
        "account_setClaims", "account_update", "key_rotate", "pool_create", "pool_setRoles", "role_put", "tenant_create", "tenant_update",
        "account_delete", "account_unlink", "identity_delete", "key_revoke", "mfa_withdraw", "pool_delete", "session_revokeAll",
        "account_import", "signIn_start", "signIn_submitCode", "signUp_start", "signUp_submitCode", "signIn_withContinuation",
        "signIn_withPassword", "test_outbox", "test_token", "token_mintForDeveloper", "token_verify", "credentials_get", "test_clock",
        "test_idp",
    ]
}

/// The selection of tools, from `--tools`: tool names, globs, toolsets, and each of them with `-` to leave out.
struct ToolSelection {
    private var including: [String] = []
    private var leavingOut: [String] = []
    private let source: String

    /// - Throws: `InvalidToolOption` for an empty name.
    init(_ given: String?, from source: String, levels: ToolLevels) throws(InvalidToolOption) {
        self.source = source
        for word in given?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let name = word.filter { $0 != " " }
            let pattern = name.hasPrefix("-") ? String(name.dropFirst()) : name
            if pattern.isEmpty {
                throw InvalidToolOption("\(source) contains an empty name. Give tools, patterns and toolsets separated by commas.")
            }
            if name.hasPrefix("-") { leavingOut.append(pattern) } else { including.append(pattern) }
        }
        if including.isEmpty { including = [levels.isAll ? Toolset.all.rawValue : Toolset.default.rawValue] }
    }

    func contains(_ name: String, _ info: MethodInfo?) -> Bool {
        including.contains { Self.matches($0, name, info) } && !leavingOut.contains { Self.matches($0, name, info) }
    }

    /// - Parameters:
    ///   - known: Every tool by name, with its method.
    ///   - refusal: Returns the reason for which a tool is not permitted, or `nil`.
    /// - Throws: `InvalidToolOption` for a pattern that matches no tool, and for one of which no tool is permitted.
    func check(
        _ known: [(name: String, info: MethodInfo?)], refusal: (MethodInfo) -> String?
    ) throws(InvalidToolOption) {
        for pattern in including + leavingOut {
            let found = known.filter { Self.matches(pattern, $0.name, $0.info) }
            if found.isEmpty {
                let hint = NearestNames.hint(
                    pattern, among: Toolset.allCases.map(\.rawValue) + known.map(\.name),
                    otherwise: "The toolsets are \(Toolset.allCases.map(\.rawValue).joined(separator: ", ")).")
                throw InvalidToolOption("\(source): '\(pattern)' matches no tool.\(hint)")
            }
            let reasons = found.map { $0.info.flatMap(refusal) }
            if leavingOut.contains(pattern) || reasons.contains(nil) { continue }
            if let first = reasons.compactMap({ $0 }).first {
                throw InvalidToolOption("\(source): no tool that '\(pattern)' matches is permitted: \(first)")
            }
        }
    }

    /// The error for a selection of which nothing remains.
    var emptyError: InvalidToolOption {
        InvalidToolOption(
            "\(source): no tool is left, because \(leavingOut.map { "-" + $0 }.joined(separator: ",")) leaves out all of them. "
                + "Name other tools, or leave out fewer.")
    }

    private static func matches(_ pattern: String, _ name: String, _ info: MethodInfo?) -> Bool {
        if let set = Toolset(rawValue: pattern) { return set.contains(name, info) }
        return matches(Array(pattern.utf8)[...], Array(name.utf8)[...])
    }

    /// Returns whether a name matches a pattern in which `*` stands for any characters and `?` for one.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (pattern, name) = (pattern, name)
        var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
        while !name.isEmpty {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (pattern, name)
            } else if let next = pattern.first, next == UInt8(ascii: "?") || next == name.first {
                (pattern, name) = (pattern.dropFirst(), name.dropFirst())
            } else if let last = retry {
                (pattern, name) = (last.pattern, last.name.dropFirst())
                retry = (pattern, name)
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
