import Contract
import Storage

/// The table of agents: accounts of programs, each with the account that owns it.
package enum AgentTables {
    package static let statements: [SQL] = [
        // owner_id has no reference: an agent whose owner does not exist must not become an account without owner.
        """
        CREATE TABLE agent (
            account_id TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE, owner_id TEXT NOT NULL, created_at BIGINT NOT NULL)
        """,
        "CREATE INDEX agent_of_owner ON agent (owner_id, account_id)",
    ]
}

extension AccountRecord {
    /// The maximum number of agents of an account.
    static let mostAgents = 100

    package var isAgent: Bool { method == .agent }

    /// - Throws: `AccountIsAgent`.
    func requireUser(_ reason: String) throws {
        if isAgent { throw AccountIsAgent(accountId: id, reason: reason) }
    }
}

extension Transaction {
    package func insertAgent(_ agent: AccountRecord, ownedBy ownerId: String) throws {
        try execute(
            "INSERT INTO agent (account_id, owner_id, created_at) VALUES ($1, $2, $3)", agent.id, ownerId, agent.createdAt)
    }

    /// Sets the owner of an imported account; `nil` for the account of a user.
    package func setOwner(_ ownerId: String?, of account: AccountRecord) throws {
        try execute("DELETE FROM agent WHERE account_id = $1", account.id)
        if let ownerId { try insertAgent(account, ownedBy: ownerId) }
    }

    /// Returns the ID of the account that owns an agent.
    package func owner(ofAgent accountId: String) throws -> String? {
        try queryOne("SELECT owner_id FROM agent WHERE account_id = $1", accountId) { $0.string(0) }
    }

    /// Returns the IDs of the agents of an account, in ascending order.
    package func agents(of ownerId: String) throws -> [String] {
        try query("SELECT account_id FROM agent WHERE owner_id = $1 ORDER BY account_id", ownerId) { $0.string(0) }
    }

    /// Gives the agents of an account another owner.
    func moveAgents(of ownerId: String, to otherId: String) throws {
        try execute("UPDATE agent SET owner_id = $2 WHERE owner_id = $1", ownerId, otherId)
    }

    /// Checks that the owner of an agent is responsible for it: the owner exists and is not disabled.
    ///
    /// - Throws: `TokenRevoked`.
    func requireOwner(ofAgent agent: AccountRecord) throws {
        guard agent.isAgent else { return }
        guard let owner = try owner(ofAgent: agent.id).flatMap({ try account($0) }), owner.tenantId == agent.tenantId else {
            throw TokenRevoked(reason: "the account that owns the agent does not exist")
        }
        if owner.isDisabled { throw TokenRevoked(reason: "the account that owns the agent is disabled") }
    }
}
