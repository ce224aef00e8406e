/// What is known about a method without calling it.
public struct MethodInfo: Sendable {
    /// Whom a method is for.
    public enum Caller: String, Sendable {
        /// Proves itself by tokens, codes or passwords, and nothing else.
        case `public`
        /// May do all: whoever spawned the process.
        case developer
    }

    /// `namespace.verb`.
    public let name: String
    public let summary: String
    public let description: String
    public let caller: Caller
    /// Whether it never writes.
    public let isReadOnly: Bool
    /// Whether it is offered with `--testing` only.
    public let isTesting: Bool
    /// The types of its own errors; any method may answer the general ones beside them.
    public let errors: [String]
    public var params: [FieldInfo] { makeParams() }
    public var result: [FieldInfo] { makeResult() }
    /// The names of the same thing in other products: operations of their services, functions of their SDKs.
    public let equivalents: [VendorName]
    /// The method object of the OpenRPC document.
    public let openRPC: StaticString
    /// Made only when somebody asks.
    let makeParams: @Sendable () -> [FieldInfo]
    let makeResult: @Sendable () -> [FieldInfo]
}

/// What is known about one parameter, or one member of a result.
public struct FieldInfo: Sendable {
    public let name: String
    /// For people, such as `integer 1–86400`.
    public let type: String
    public let isRequired: Bool
    /// As JSON.
    public let defaultValue: String?
    public let description: String
}

/// What is known about a type of error.
public struct ErrorInfo: Sendable {
    public let code: Int
    /// The stable name.
    public let type: String
    /// When it happens.
    public let when: String
    /// Whether it may go away by itself; the answer says after how many seconds to try again.
    public let isRetryable: Bool
    /// Whether it says that the store cannot be used.
    public let isStoreError: Bool
}
