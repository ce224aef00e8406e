import Contract
import Storage

extension AccountService {
    /// Returns the graph of an account: its sign-in methods, factors, sessions, merged accounts and identities.
    ///
    /// - Throws: the errors of ID token verification; `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`.
    public func graph(_ request: AccountGraph.Params, _ call: any CallContext) throws -> AccountGraph.Result {
        let now = context.clock.now
        var token: VerifiedTenantToken?
        if case .idToken(let idToken) = request.account {
            token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
                idToken, .init(use: .id), now: now)
        } else if call.isPublicCaller {
            throw CallerNotAllowed(method: "\(AccountGraph.info.name) by accountId")
        }
        return try context.database.read { tx in
            let account: AccountRecord
            switch request.account {
            case .idToken: account = try AuthenticatedAccount(token!, in: tx).account
            case .accountId(let id):
                guard let found = try tx.account(id) else { throw try tx.absence(of: id) }
                account = found
            }
            var graph = PersonGraph(account)
            try graph.addWaysIn(at: now, in: tx)
            try graph.addAgents(in: tx)
            try graph.addIdentities(identities, in: tx)
            let text = request.format.map { GraphText(nodes: graph.nodes, edges: graph.edges).text($0) }
            return AccountGraph.Result(nodes: graph.nodes, edges: graph.edges, text: text)
        }
    }
}

/// The records that belong to an account, as nodes and edges. The account is the first node.
struct PersonGraph {
    private static let mostSessions = 1000
    private let account: AccountRecord
    private(set) var nodes: [GraphNode]
    private(set) var edges: [GraphEdge] = []

    init(_ account: AccountRecord) {
        self.account = account
        nodes = [.account(.init(accountId: account.id))]
    }

    private mutating func add(_ node: GraphNode, _ kind: GraphEdge.Kind, to place: Int64 = 0) {
        edges.append(GraphEdge(from: Int64(nodes.count), to: place, kind: kind))
        nodes.append(node)
    }

    /// Adds providers, second factors, sessions, and accounts that were merged into this one.
    mutating func addWaysIn(at now: Int64, in tx: Transaction) throws {
        for way in account.providers(try tx.accountLogins(of: account.id)) {
            add(.provider(.init(providerId: way.providerId, subject: way.subject)), .leadsTo)
        }
        for passkey in try tx.passkeys(of: account.id) where passkey.usage == .signIn {
            add(.passkey(.init(credentialId: passkey.id, name: passkey.name)), .leadsTo)
        }
        for factor in try tx.factors(of: account.id) {
            let kind = FactorKind(rawValue: factor.kind.rawValue) ?? .totp
            add(.factor(.init(factorId: factor.id, factorKind: kind)), .secures)
        }
        for session in try tx.sessions(of: account.id, at: now, limit: Self.mostSessions) {
            let place = Int64(nodes.count)
            add(.session(.init(sessionId: session.id)), .isSignedInTo)
            let passkeyId = session.provider == SignInProof.passkeyProvider ? session.passkeyId : nil
            if let way = nodes.firstIndex(where: { $0.began(session.provider, passkeyId) }) {
                edges.append(GraphEdge(from: Int64(way), to: place, kind: .began))
            }
        }
        for id in try tx.mergedAccounts(of: account.id) { add(.mergedAccount(.init(accountId: id)), .mergedInto) }
    }

    /// Adds the agents of the account, and the owner of an agent.
    mutating func addAgents(in tx: Transaction) throws {
        for id in try tx.agents(of: account.id) {
            edges.append(GraphEdge(from: 0, to: Int64(nodes.count), kind: .owns))
            nodes.append(.agent(.init(accountId: id)))
        }
        if let owner = try account.isAgent ? tx.owner(ofAgent: account.id) : nil { add(.owner(.init(accountId: owner)), .owns) }
    }

    /// Adds the identities to which the account's ID tokens resolve, and the other logins of each identity.
    mutating func addIdentities(_ identities: any LinkedIdentities, in tx: Transaction) throws {
        for identity in try identities.identities(ofAccount: account.id, tenantId: account.tenantId, in: tx) {
            let place = Int64(nodes.count)
            nodes.append(.identity(.init(poolId: identity.poolId, identityId: identity.identityId)))
            edges.append(GraphEdge(from: 0, to: place, kind: .leadsTo))
            for provider in identity.otherLoginProviders { add(.login(.init(loginProvider: provider)), .leadsTo, to: place) }
        }
    }
}

extension GraphNode {
    /// Returns whether the node is the sign-in method with which a session began.
    fileprivate func began(_ provider: String, _ passkeyId: String?) -> Bool {
        switch self {
        case .provider(let node): node.providerId == provider
        case .passkey(let node): node.credentialId == passkeyId
        default: false
        }
    }
}
