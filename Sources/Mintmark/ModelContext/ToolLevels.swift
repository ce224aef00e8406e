import Contract
import Platform

/// The permissions of a language model, from `--allow`.
public struct ToolLevels: Sendable, Equatable {
    /// The highest level. A level includes the lower ones.
    let level: MethodInfo.Level
    /// Whether methods and parameters that carry secrets are offered.
    let secrets: Bool
    /// Whether `all` was given, which is every tool.
    let isAll: Bool

    /// The value of `--allow` that the permissions correspond to.
    var option: String { isAll ? "all" : secrets ? "\(level),secrets" : "\(level)" }

    public static let names = MethodInfo.Level.allCases.map(\.rawValue) + ["secrets", "all"]

    /// - Parameters:
    ///   - given: Names separated by commas, or `nil` for the default.
    ///   - source: The option or variable, for error messages.
    /// - Throws: `InvalidToolOption` for an unknown name.
    public init(_ given: String?, from source: String) throws(InvalidToolOption) {
        var level = MethodInfo.Level.read
        var secrets = false
        var isAll = false
        let words = given?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        for word in words {
            switch word.filter({ $0 != " " }) {
            case "read": break
            case "write": if level == .read { level = .write }
            case "destroy", "admin": level = .destroy
            case "secrets": secrets = true
            case "all": (level, secrets, isAll) = (.destroy, true, true)
            case let name:
                let hint = NearestNames.hint(name, among: Self.names)
                let known = Self.names.joined(separator: ", ")
                throw InvalidToolOption("\(source) must be a list of \(known) separated by commas, but it contains '\(name)'.\(hint)")
            }
        }
        (self.level, self.secrets, self.isAll) = (level, secrets, isAll)
    }

    private init(_ level: MethodInfo.Level, secrets: Bool) { (self.level, self.secrets, isAll) = (level, secrets, false) }

    /// Whether a method is permitted.
    func permits(_ method: MethodInfo) -> Bool { method.level.rank <= level.rank && (secrets || !method.carriesSecrets) }

    /// Returns the lowest permissions that include these and a method.
    func including(_ method: MethodInfo) -> ToolLevels {
        ToolLevels(method.level.rank > level.rank ? method.level : level, secrets: secrets || method.carriesSecrets)
    }
}

extension MethodInfo.Level {
    var rank: Int { Self.allCases.firstIndex(of: self)! }
}

/// A value of `--allow` or `--tools` that is not valid.
public struct InvalidToolOption: Error {
    public let message: String

    init(_ message: String) { self.message = message }
}
