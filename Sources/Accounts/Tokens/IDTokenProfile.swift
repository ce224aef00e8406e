import JSON

/// Decides which claims about the user an ID token has (the tenant setting `idTokenProfile`).
struct IDTokenProfile: Sendable {
    /// Whether the token has the claims of Microsoft Entra, and the scopes decide about those of the user.
    let isOn: Bool
    private let scopes: [String]

    init(_ session: SessionRecord, isOn: Bool) {
        self.isOn = isOn
        scopes = session.grant.scopes.names
    }

    var hasName: Bool { !isOn || scopes.contains("profile") }
    var hasEmail: Bool { hasName || scopes.contains("email") }

    /// The claims that take precedence over claims and attributes of the tenant.
    var reserved: Set<String> { isOn ? ["oid", "tid", "ver", "preferred_username"] : [] }

    /// Returns the claims for an account.
    func claims(of account: AccountRecord, issuedAt: Int64) -> [(String, JSONValue)] {
        guard isOn else { return [] }
        let own: [(String, JSONValue)] = [
            ("oid", .string(account.id)), ("tid", .string(account.tenantId)), ("ver", "2.0"), ("nbf", .number(JSONNumber(issuedAt))),
        ]
        // The address as entered at the sign-up: clients use it as the key of their cache.
        let name = hasName ? account.username ?? account.email : nil
        return own + (name.map { [("preferred_username", .string($0))] } ?? [])
    }
}
