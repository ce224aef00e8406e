import JSON

/// The error with which a hook refuses the operation. The caller gets `RefusedByHookError` with the reason.
public struct HookRefused: Error, Sendable {
    /// The reason, of 1 to 1,000 characters.
    public let reason: String
    public init(_ reason: String) { self.reason = reason }
}

/// The question to a hook.
public struct HookRequest: Sendable {
    /// The name of the hook, such as `beforeSignIn`.
    public let hook: String
    /// The whole question.
    public let params: JSONObject

    /// The tenant of the account or message.
    public var tenantID: String { params["tenantId"]?.string ?? "" }
    /// The account as it will be stored; nil for a message.
    public var account: Account? { params["account"].flatMap { try? Account(wire: $0) } }
    /// The method that asks, such as `signIn.withPassword`.
    public var method: String? { params["method"]?.string }
    /// How the user signs in: `password`, `code`, `passkey`, `anonymous`, `custom`, or the ID of an identity provider.
    public var provider: String? { params["provider"]?.string }
    /// The authentication methods of the session (RFC 8176).
    public var amr: [String] { params["amr"]?.array?.compactMap(\.string) ?? [] }
    /// Whether the sign-in completes a sign-up or creates the account.
    public var isNewAccount: Bool { params["isNewAccount"]?.bool ?? false }
    /// The kind of the second factor that was verified.
    public var secondFactor: String? { params["secondFactor"]?.string }
    /// The message of `beforeSendMessage`: `channel`, `to`, `purpose`, `language` and `secondFactor`.
    public var message: JSONObject { params["message"]?.object ?? [:] }
}

/// What a hook changes. Members that are nil change nothing.
public struct HookAnswer: Sendable {
    /// The new display name.
    public var displayName: String?
    /// The URL of the new picture.
    public var photoUrl: String?
    /// Whether the email address of the account is verified.
    public var emailVerified: Bool?
    /// The new custom claims of the account, which replace the present ones.
    public var claims: JSONObject?
    /// Claims that only the tokens of the session contain, for `beforeSignIn`.
    public var sessionClaims: JSONObject?
    /// Whether the account is disabled. If true, it is stored, and the operation fails with `AccountDisabledError`.
    public var disabled: Bool?

    public init(
        displayName: String? = nil, claims: JSONObject? = nil, sessionClaims: JSONObject? = nil, disabled: Bool? = nil
    ) {
        self.displayName = displayName
        self.claims = claims
        self.sessionClaims = sessionClaims
        self.disabled = disabled
    }

    var wire: JSONValue {
        var object = JSONObject()
        object["displayName"] = displayName.map { .string($0) }
        object["photoUrl"] = photoUrl.map { .string($0) }
        object["emailVerified"] = emailVerified.map { .bool($0) }
        object["claims"] = claims.map { .object($0) }
        object["sessionClaims"] = sessionClaims.map { .object($0) }
        object["disabled"] = disabled.map { .bool($0) }
        return .object(object)
    }
}

extension Mintmark {
    /// Decides within 7 seconds. `nil` allows the operation without a change, and `HookRefused` refuses it. After any other error, the
    /// operation fails. A function can call the client.
    public typealias HookFunction = @Sendable (HookRequest) async throws -> HookAnswer?

    /// The functions that answer hooks. `hooks.set` switches hooks on for a tenant.
    public struct HookFunctions: Sendable {
        /// Decides about an account that a user creates.
        public var beforeCreate: HookFunction?
        /// Decides about a new session.
        public var beforeSignIn: HookFunction?
        /// Decides about a message with a code. It can only refuse.
        public var beforeSendMessage: HookFunction?

        public init() {}

        private var all: [(name: String, function: HookFunction?)] {
            [("beforeCreate", beforeCreate), ("beforeSignIn", beforeSignIn), ("beforeSendMessage", beforeSendMessage)]
        }

        package var isEmpty: Bool { all.allSatisfy { $0.function == nil } }

        /// The request that offers the functions to the process.
        package var offer: [UInt8] {
            let names = all.filter { $0.function != nil }.map { JSONValue.string($0.name) }
            return Self.line(["id": .number(JSONNumber(Self.offerID)), "method": "hooks.offer", "params": ["hooks": .array(names)]])
        }

        static let offerID: Int64 = -1

        /// Returns the response to a request of the process.
        func response(to method: String, _ params: JSONObject, id: JSONValue) async -> [UInt8] {
            let name = String(method.dropFirst("hook/".count))
            func failed(_ code: Int64, _ words: String) -> [UInt8] {
                Self.line(["id": id, "error": ["code": .number(JSONNumber(code)), "message": .string(words)]])
            }
            guard let function = all.first(where: { $0.name == name })?.function else {
                return failed(-32601, "This client has no function for \(method).")
            }
            do {
                return Self.line(["id": id, "result": try await function(HookRequest(hook: name, params: params))?.wire ?? .null])
            } catch let refusal as HookRefused {
                return Self.line(["id": id, "result": ["refuse": .string(refusal.reason)]])
            } catch { return failed(-32603, "\(error)") }
        }

        private static func line(_ members: JSONObject) -> [UInt8] {
            var message: JSONObject = ["jsonrpc": "2.0"]
            for (name, value) in members.members { message[name] = value }
            return JSONValue.object(message).bytes + [UInt8(ascii: "\n")]
        }
    }
}
