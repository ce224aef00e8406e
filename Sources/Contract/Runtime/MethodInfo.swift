import JSON

/// The metadata of a method.
public struct MethodInfo: Sendable {
    /// The access level that a method requires.
    public enum Caller: String, Sendable {
        /// Requires no access level: the parameters contain a proof, such as a token or credential.
        case `public`
        /// Requires full access: only for the process that started Mintmark.
        case developer
    }

    /// The permission that a language model needs to call the method.
    public enum Level: String, Sendable, CaseIterable {
        case read
        /// Creates or changes something.
        case write
        /// Deletes, revokes, merges or resets something.
        case destroy
    }

    /// The name, in the form `namespace.verb`.
    public let name: String
    public let summary: String
    public let description: String
    public let caller: Caller
    /// Whether the method never writes.
    public let isReadOnly: Bool
    /// Whether the method is offered only with `--testing`.
    public let isTesting: Bool
    public let level: Level
    /// Whether the parameters or the result carry a token, password, code, key or credential.
    public let carriesSecrets: Bool
    /// When a language model should use the method. Empty if the summary says it.
    public let use: String
    /// The methods that often follow.
    public let next: [String]
    /// The cost of a call, unless one of `costCases` applies; see `cost(of:)`.
    public let cost: MethodCost
    /// Parameters that change the cost. The first that applies counts.
    let costCases: [CostCase]
    /// The method-specific error types. Any method can also fail with the general errors.
    public let errors: [String]
    public var params: [FieldInfo] { FieldInfo.list(texts.lines[1]) }
    public var result: [FieldInfo] { FieldInfo.list(texts.lines[2]) }
    /// The names of the corresponding operations and SDK functions in other products.
    public let equivalents: [VendorName]
    /// The method object in the OpenRPC document, as JSON.
    public var openRPC: [UInt8] { [UInt8](texts.bytes.prefix { $0 != UInt8(ascii: "\n") }) }
    /// Three lines: the method object, the parameters, and the members of the result as `FieldInfo.list` reads them.
    let texts: ContractText
}

/// The metadata of a parameter, or of a member of a result.
public struct FieldInfo: Sendable {
    public let name: String
    /// A human-readable type, such as `integer 1–86400`.
    public let type: String
    public let isRequired: Bool
    /// The default, as JSON.
    public let defaultValue: String?
    public let description: String

    /// Returns the fields of a text that the generator wrote: an array of `[name, type, isRequired, defaultValue, description]`.
    static func list(_ text: String) -> [FieldInfo] {
        let entries = (try? JSONValue(parsing: text))?.array ?? []
        return entries.compactMap { entry in
            guard let parts = entry.array, parts.count == 5, let name = parts[0].string, let type = parts[1].string,
                let isRequired = parts[2].bool, let description = parts[4].string
            else { return nil }
            return FieldInfo(name: name, type: type, isRequired: isRequired, defaultValue: parts[3].string, description: description)
        }
    }
}

/// The metadata of an error type.
public struct ErrorInfo: Sendable {
    public let code: Int
    /// The stable name of the error type.
    public let type: String
    /// The condition under which the error occurs.
    public let when: String
    /// Whether a retry can succeed. The error data then contains the number of seconds to wait.
    public let isRetryable: Bool
    /// Whether the error means that the store cannot be used.
    public let isStoreError: Bool
}
