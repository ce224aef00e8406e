import Contract
import Storage

/// The stored record of an identity.
struct Identity: Sendable, Equatable {
    let id: String
    let poolId: String
    let state: State
    let createdAt: Int64
    let updatedAt: Int64

    enum State: String, Sendable { case guest, authenticated, disabled }
}

extension Transaction {
    func identity(_ id: String) throws -> Identity? {
        try queryOne("SELECT id, pool_id, state, created_at, updated_at FROM identity WHERE id = $1", id, row: Identity.init)
    }

    /// Checks an identity that the caller gave, before its logins are verified.
    ///
    /// - Throws: `IdentityNotFound`, also if it belongs to another pool; `IdentityDisabled`.
    func requireUsable(_ id: String?, in poolId: String) throws {
        guard let id else { return }
        guard let identity = try identity(id), identity.poolId == poolId else { throw IdentityNotFound(identityId: id) }
        if identity.state == .disabled { throw IdentityDisabled(identityId: id) }
    }

    /// Returns the ID of the identity that owns a login, or `nil` if there is none.
    func identity(owning login: Login, in poolId: String) throws -> String? {
        try text(
            "SELECT identity_id FROM login WHERE pool_id = $1 AND provider = $2 AND subject = $3", poolId, login.provider, login.subject)
    }

    func insert(_ identity: Identity) throws {
        try execute(
            "INSERT INTO identity (id, pool_id, state, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
            identity.id, identity.poolId, identity.state.rawValue, identity.createdAt, identity.updatedAt)
    }

    /// Links `login` to an identity. Returns `false` if another identity already owns it.
    func link(_ login: Login, to identityId: String, in poolId: String, at now: Int64) throws -> Bool {
        try execute(
            """
            INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (pool_id, provider, subject) DO NOTHING
            """, poolId, login.provider, login.subject, identityId, now) == 1
    }

    func setState(_ state: Identity.State, of identityId: String, at now: Int64) throws {
        try execute("UPDATE identity SET state = $2, updated_at = $3 WHERE id = $1", identityId, state.rawValue, now)
    }

    /// Returns the logins of an identity.
    func logins(of identityId: String) throws -> [Login] {
        try query("SELECT provider, subject FROM login WHERE identity_id = $1 ORDER BY provider, subject", identityId) {
            Login(provider: $0.string(0), subject: $0.string(1))
        }
    }

    /// Unlinks logins from an identity. Returns their number.
    func unlink(_ provider: String, subject: String? = nil, from identityId: String) throws -> Int {
        try execute(
            "DELETE FROM login WHERE identity_id = $1 AND provider = $2 AND ($4 = FALSE OR subject = $3)", identityId, provider,
            subject ?? "", subject != nil)
    }

    /// Deletes an identity with its logins. Returns `false` if it does not exist.
    func deleteIdentity(_ id: String) throws -> Bool { try execute("DELETE FROM identity WHERE id = $1", id) == 1 }

    /// Returns the names of the providers of an identity's logins.
    func providers(of identityId: String) throws -> [String] {
        try query("SELECT DISTINCT provider FROM login WHERE identity_id = $1 ORDER BY provider", identityId) { $0.string(0) }
    }

    func identities(in poolId: String, after id: String, hidingDisabled: Bool, limit: Int) throws -> [Identity] {
        try query(
            """
            SELECT id, pool_id, state, created_at, updated_at FROM identity
            WHERE pool_id = $1 AND id > $2 AND ($3 = FALSE OR state <> 'disabled') ORDER BY id LIMIT $4
            """, poolId, id, hidingDisabled, limit, row: Identity.init)
    }
}

extension Identity {
    init(_ row: Row) {
        self.init(
            id: row.string(0), poolId: row.string(1), state: State(rawValue: row.string(2)) ?? .disabled, createdAt: row.int(3),
            updatedAt: row.int(4))
    }
}
