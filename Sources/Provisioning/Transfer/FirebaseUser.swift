import JSON

/// Converts a user in the format of `firebase auth:export` to the members of `PortableAccount`. Data without an equivalent, such as
/// sessions, is omitted.
struct FirebaseUser {
    private let node: JSONNode
    /// Whether the tenant has an attribute `phoneNumber`.
    private let hasNumberAttribute: Bool

    init(_ node: JSONNode, hasNumberAttribute: Bool = true) {
        self.node = node
        self.hasNumberAttribute = hasNumberAttribute
    }

    var portable: JSONObject {
        guard node.kind == .object else { return ["": node.value] }
        var account = JSONObject()
        account["accountId"] = node["localId"]?.value
        for name in ["email", "phoneNumber", "passwordHash", "salt"] { account[name] = given(name) }
        for name in ["emailVerified", "disabled"] { account[name] = node[name]?.value }
        var attributes = JSONObject()
        for (theirs, ours) in [("displayName", "displayName"), ("photoUrl", "picture"), ("phoneNumber", "phoneNumber")]
        where theirs != "phoneNumber" || hasNumberAttribute {
            attributes[ours] = given(theirs)
        }
        if !attributes.isEmpty { account["attributes"] = .object(attributes) }
        if let text = node["customAttributes"]?.string, !text.isEmpty {
            account["claims"] = (try? JSONValue(parsing: text)) ?? .string(text)
        }
        account["createdAt"] = seconds("createdAt")
        account["lastSignInAt"] = seconds("lastSignedInAt") ?? seconds("lastLoginAt")
        account["providers"] = list("providerUserInfo", Self.login)
        account["factors"] = list("mfaInfo", Self.factor)
        return account
    }

    /// Returns a member, or `nil` if it is missing, null or an empty string.
    private func given(_ name: String) -> JSONValue? { Self.given(node[name]) }

    private static func given(_ node: JSONNode?) -> JSONValue? {
        guard let node, !node.isNull, node.string != "" else { return nil }
        return node.value
    }

    /// Converts milliseconds, usually written as a string, to seconds.
    private func seconds(_ name: String) -> JSONValue? {
        guard let value = node[name] else { return nil }
        guard let milliseconds = value.number?.int64 ?? value.string.flatMap({ Int64($0) }) else { return value.value }
        return .number(JSONNumber(milliseconds / 1000))
    }

    private func list(_ name: String, _ element: (JSONNode) -> JSONValue) -> JSONValue? {
        guard let list = node[name], list.count > 0 else { return nil }
        guard list.kind == .array else { return list.value }
        var elements: [JSONValue] = []
        list.forEachElement { elements.append(element($1)) }
        return .array(elements)
    }

    private static func login(_ node: JSONNode) -> JSONValue {
        var login = JSONObject()
        login["providerId"] = node["providerId"]?.value
        login["subject"] = given(node["rawId"]) ?? given(node["federatedId"])
        // Entries derived from the account itself, such as a phone number, have no subject of their own.
        if login["subject"] == nil { login["subject"] = given(node["phoneNumber"]) ?? given(node["email"]) }
        for name in ["email", "displayName", "photoUrl"] { login[name] = given(node[name]) }
        return .object(login)
    }

    private static func factor(_ node: JSONNode) -> JSONValue {
        var factor = JSONObject()
        factor["kind"] = node["totpInfo"] != nil ? "totp" : "sms"
        factor["phoneNumber"] = given(node["unobfuscatedPhoneInfo"]) ?? given(node["phoneInfo"])
        factor["displayName"] = given(node["displayName"])
        return .object(factor)
    }
}
