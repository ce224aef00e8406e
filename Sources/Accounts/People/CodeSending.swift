import Contract
import Crypto
import Messages
import Platform
import ServiceContext
import Storage

/// The codes of flows: made, counted, handed over, stored as an HMAC with their flow (native-auth.md 1.8, 6.2 to 6.4).
struct CodeSending: Sendable {
    let surroundings: AccountsContext
    private let key: SecretBytes

    init(_ surroundings: AccountsContext) {
        self.surroundings = surroundings
        key = surroundings.vault.subkey("code")
    }

    /// What a request that may send a code came to.
    enum Draft {
        /// It is the repetition of one that was answered.
        case repeated(Flow)
        /// The flow gets a code, and is carried on when that is on its way.
        case send(Flow, isNew: Bool)
    }

    /// Whether `code` is the one on its way for `flow`. A code of another flow never is.
    func matches(_ code: String, of flow: Flow, at now: Int64, _ policy: CodePolicy) -> Bool {
        let given = mac(code, of: flow)
        guard let stored = flow.code.mac, !flow.isDecoy else { return false }
        return constantTimeEquals(given, stored) && now < flow.code.expiresAt && flow.code.tries < policy.attempts
    }

    private func mac(_ code: String, of flow: Flow) -> [UInt8] { HMAC.sha256(key: key, Array("\(flow.id) \(code)".utf8)) }

    /// Sends a new code. The one before it is good until the new one was handed over: if that fails, nothing has changed.
    ///
    /// While the message is on its way the same request, from wherever it comes, waits for the answer of the first.
    ///
    /// - Parameters:
    ///   - recipient: who gets the code of a flow; without it the address that the flow is about.
    ///   - draft: looks at the store and says what is to be done; run again before the code takes effect.
    ///   - commit: puts down the flow with its new code.
    /// - Throws: `TooManyCodes`, `TooManyFailedSends`, `TooManyFromClient`, `MessageNotSent`, `SendUnderway`, what `draft` throws.
    func send(
        for tenant: TenantRecord, _ purpose: MessagePurpose, to recipient: (Flow) -> Recipient = { .email($0.username) },
        locking ids: [String], client: ClientKey? = nil, at now: Int64, draft: (Transaction) throws -> Draft,
        commit: (Transaction, inout Flow) throws -> Void
    ) throws -> Flow {
        let candidates = (0..<2).map { _ in surroundings.random.decimalDigits(Int(tenant.codes.length)) }
        func code(for flow: Flow) -> String { candidates.first { mac($0, of: flow) != flow.code.mac } ?? candidates[0] }
        func put(_ flow: Flow, isNew: Bool, in tx: Transaction) throws -> Flow {
            var flow = flow
            flow.code = Flow.Code(
                mac: flow.isDecoy ? nil : mac(code(for: flow), of: flow), expiresAt: now + tenant.codes.lifetimeSeconds, sentAt: now)
            try commit(tx, &flow)
            if isNew { flow.rest(from: now) }
            if isNew { try tx.insert(flow) } else { try tx.update(flow) }
            return flow
        }
        func limits(_ flow: Flow) -> SendLimits {
            SendLimits(address: recipient(flow).address(in: flow.tenantId), policy: tenant.codes, client: client, now: now)
        }
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, surroundings.vault)
        func message(_ flow: Flow) -> OutgoingMessage {
            OutgoingMessage(
                to: recipient(flow), purpose, code: code(for: flow), of: flow, lifetimeSeconds: tenant.codes.lifetimeSeconds,
                tenant: tenant, delivery: delivery)
        }
        guard let carrier = surroundings.carrier else {
            return try surroundings.database.write { tx in
                try tx.lock(ids + ["outbox"])
                switch try draft(tx) {
                case .repeated(let flow): return flow
                case .send(var flow, let isNew):
                    try limits(flow).count(&flow, in: tx)
                    try tx.insert(message(flow), at: now)
                    return try put(flow, isNew: isNew, in: tx)
                }
            }
        }
        /// What was drafted, and whose turn it is to send it.
        func claim() throws -> Turn {
            let holder = Hex.encode(surroundings.random.bytes(16))
            let moment = surroundings.clock.now
            return try surroundings.database.write { tx in
                try tx.lock(ids)
                let drafted = try draft(tx)
                guard case .send(var flow, let isNew) = drafted else { return .answered(drafted.flow) }
                let claim = SendClaim(of: flow, isNew: isNew, holder: holder, at: moment)
                if let other = try tx.sendClaim(of: claim.subject), other.holds(at: moment) { return .another(until: other.expiresAt) }
                try limits(flow).count(&flow, in: tx)
                if !isNew { try tx.setSends(flow.sends, of: flow.id) }
                try tx.set(claim)
                return .own(claim, flow)
            }
        }
        /// Puts down what was handed over; nil if somebody else has sent it meanwhile, because that took too long.
        func conclude(_ claim: SendClaim, _ sent: Flow) throws -> Flow? {
            try surroundings.database.write { tx in
                try tx.lock(ids)
                guard try tx.delete(claim) else { return nil }
                guard case .send(var fresh, let isNew) = try draft(tx) else { return nil }
                fresh.sends = sent.sends
                return try put(fresh, isNew: isNew, in: tx)
            }
        }
        let patience = SendPatience()
        while true {
            switch try claim() {
            case .answered(let flow): return flow
            case .another(let end): try patience.pause(until: end, at: surroundings.clock.now)
            case .own(let claim, let flow):
                do {
                    try carrier.hand(over: message(flow))
                    if let concluded = try conclude(claim, flow) { return concluded }
                } catch {
                    // Whoever waits for the same need not wait until the claim ends. What was plainly not taken leaves its place to another.
                    let isRefused = (error as? MessageNotSent).map { $0.mayHaveArrived != true } ?? false
                    try? surroundings.database.write { tx in
                        try tx.lock(ids)
                        _ = try tx.delete(claim)
                        if isRefused { try limits(flow).giveBack(flow, in: tx) }
                    }
                    throw error
                }
            }
        }
    }

    /// What a request found where it was to send something.
    private enum Turn {
        /// The same request has sent it before.
        case answered(Flow)
        /// Another request is about it, and has until then.
        case another(until: Int64)
        /// It is this one's.
        case own(SendClaim, Flow)
    }
}

extension CodeSending.Draft {
    fileprivate var flow: Flow {
        switch self {
        case .repeated(let flow), .send(let flow, _): flow
        }
    }
}
