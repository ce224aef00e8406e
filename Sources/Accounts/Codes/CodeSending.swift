import Contract
import Crypto
import Messages
import Platform
import ServiceContext
import Storage

/// Generates, counts and sends the one-time codes of flows. The store holds only an HMAC of each code.
struct CodeSending: Sendable {
    let context: AccountsContext
    private let key: SecretBytes
    /// The call for which codes are sent. It can be canceled while a hook is asked.
    private var call: (any CallContext)?

    init(_ context: AccountsContext) {
        self.context = context
        key = context.vault.subkey("code")
    }

    /// Returns this value for a call.
    func by(_ call: any CallContext) -> Self {
        var copy = self
        copy.call = call
        return copy
    }

    /// The result of evaluating a request that may send a code.
    enum Draft {
        /// The request repeats an earlier one, which was already processed.
        case repeated(Flow)
        /// The flow needs a code. The flow advances after the message was sent.
        case send(Flow, isNew: Bool)
    }

    /// The message with a code, and its limits.
    struct Order {
        let purpose: MessagePurpose
        let tenant: TenantRecord
        /// Returns the recipient of the code. Defaults to the email address of the flow.
        var recipient: (Flow) -> Recipient = { $0.recipient }
        /// The locks of the flow and of what it belongs to.
        let locks: [String]
        var client: ClientKey?
        let now: Int64
    }

    /// Returns whether `code` is the current code of `flow`. The HMAC includes the flow ID, so codes of other flows never match.
    func matches(_ code: String, of flow: Flow, at now: Int64, _ policy: CodePolicy) -> Bool {
        let given = mac(code, of: flow)
        guard let stored = flow.code.mac, !flow.isDecoy else { return false }
        return constantTimeEquals(given, stored) && now < flow.code.expiresAt && flow.code.tries < policy.attempts
    }

    private func mac(_ code: String, of flow: Flow) -> [UInt8] { HMAC.sha256(key: key, Array("\(flow.id) \(code)".utf8)) }

    /// Sends a new code. The previous code stays valid until the new message was sent: if sending fails, nothing changes.
    ///
    /// While the message is being sent, the same request waits for the result of the first, in this and in other processes.
    ///
    /// - Parameters:
    ///   - draft: Reads the store and returns what to send. Called again before the code takes effect.
    ///   - commit: Updates the flow before it is stored with its new code.
    /// - Throws: `TooManyCodes`, `TooManyFailedSends`, `TooManyFromClient`, `MessageNotSent`, `SendUnderway`, and the errors of `draft`.
    func send(
        _ order: Order, draft: (Transaction) throws -> Draft, commit: (Transaction, inout Flow) throws -> Void
    ) throws -> Flow {
        let (purpose, tenant, recipient, ids, now) = (order.purpose, order.tenant, order.recipient, order.locks, order.now)
        let candidates = (0..<2).map { _ in context.random.decimalDigits(Int(tenant.codes.length)) }
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
        func limits(_ flow: Flow) -> CodeSendLimits {
            CodeSendLimits(address: recipient(flow).address(in: flow.tenantId), policy: tenant.codes, client: order.client, now: now)
        }
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, context.vault)
        func message(_ flow: Flow) -> OutgoingMessage {
            OutgoingMessage(
                MessageContent(purpose: purpose, code: code(for: flow), lifetimeSeconds: tenant.codes.lifetimeSeconds),
                to: recipient(flow), of: flow, tenant: tenant, delivery: delivery)
        }
        let gate = HookGate(context, for: call)
        func ask(about flow: Flow, in tx: Transaction) throws {
            try gate.decide(
                about: HookMessage(purpose: purpose, recipient: recipient(flow), language: flow.language, factor: flow.factorStep),
                of: tenant, in: tx)
        }
        guard let carrier = context.carrier else {
            return try gate.write { tx in
                try tx.lock(ids + ["outbox"])
                switch try draft(tx) {
                case .repeated(let flow): return flow
                case .send(var flow, let isNew):
                    try limits(flow).count(&flow, in: tx)
                    try ask(about: flow, in: tx)
                    try tx.insert(message(flow), at: now)
                    return try put(flow, isNew: isNew, in: tx)
                }
            }
        }
        /// Evaluates the request and claims the right to send its message.
        func claim() throws -> Turn {
            let holder = Hex.encode(context.random.bytes(16))
            let moment = context.clock.now
            return try gate.write { tx in
                try tx.lock(ids)
                let drafted = try draft(tx)
                guard case .send(var flow, let isNew) = drafted else { return .answered(drafted.flow) }
                let claim = SendLease(of: flow, isNew: isNew, holder: holder, at: moment)
                if let other = try tx.sendClaim(of: claim.subject), other.holds(at: moment) { return .another(until: other.expiresAt) }
                try limits(flow).count(&flow, in: tx)
                try ask(about: flow, in: tx)
                if !isNew { try tx.setSends(flow.sends, of: flow.id) }
                try tx.set(claim)
                return .own(claim, flow)
            }
        }
        /// Stores the flow after its message was sent. Returns `nil` if the claim expired and another request took it over.
        func conclude(_ claim: SendLease, _ sent: Flow) throws -> Flow? {
            try context.database.write { tx in
                try tx.lock(ids)
                guard try tx.delete(claim) else { return nil }
                guard case .send(var fresh, let isNew) = try draft(tx) else { return nil }
                fresh.sends = sent.sends
                return try put(fresh, isNew: isNew, in: tx)
            }
        }
        let patience = SendWaitPolicy()
        while true {
            switch try claim() {
            case .answered(let flow): return flow
            case .another(let end): try patience.pause(until: end, at: context.clock.now)
            case .own(let claim, let flow):
                do {
                    try carrier.hand(over: message(flow))
                    if let concluded = try conclude(claim, flow) { return concluded }
                } catch {
                    // Delete the claim so that waiting requests need not wait until it expires. If the message was certainly not delivered,
                    // also revert
                    // its counts.
                    let isRefused = (error as? MessageNotSent).map { $0.mayHaveArrived != true } ?? false
                    try? context.database.write { tx in
                        try tx.lock(ids)
                        _ = try tx.delete(claim)
                        if isRefused { try limits(flow).giveBack(flow, in: tx) }
                    }
                    throw error
                }
            }
        }
    }

    /// The outcome of an attempt to claim a message.
    private enum Turn {
        /// The same request already sent it.
        case answered(Flow)
        /// Another request is sending it, and its claim expires at this time.
        case another(until: Int64)
        /// This request must send it.
        case own(SendLease, Flow)
    }
}

extension CodeSending.Draft {
    fileprivate var flow: Flow {
        switch self {
        case .repeated(let flow), .send(let flow, _): flow
        }
    }
}
