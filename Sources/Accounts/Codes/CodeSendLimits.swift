import Contract
import Storage

/// Limits how many codes are sent: per flow, per address and per client. A message that was certainly not delivered does not count as sent,
/// but as a failed message, so that a failing server does not receive unlimited requests.
struct CodeSendLimits: Sendable {
    /// The maximum number of failed messages to one address within `failedSeconds`.
    static let mostFailed: Int64 = 10
    static let failedSeconds: Int64 = 60

    /// The address, prefixed with the tenant ID.
    let address: String
    let policy: CodePolicy
    let client: ClientKey?
    let now: Int64

    /// The key under which failed messages are counted. Tenant IDs contain no space, so it is unique.
    private var failedAddress: String { "failed \(address)" }

    /// Counts one code.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFailedSends`, `TooManyFromClient`.
    func count(_ flow: inout Flow, in tx: Transaction) throws {
        let failed = try tx.sendWindow(of: failedAddress, Self.failedSeconds, at: now)
        if failed.sent >= Self.mostFailed {
            throw TooManyFailedSends(failures: failed.sent, retryAfterSeconds: max(1, failed.since + Self.failedSeconds - now))
        }
        try tx.checkUndelivered(of: client, at: now)
        try tx.count(.codes, of: client, at: now)
        var window = try tx.sendWindow(of: address, policy.windowSeconds, at: now)
        let (isFlowFull, isAddressFull) = (flow.sends >= policy.sendsPerFlow, window.sent >= policy.sendsPerAddress)
        if isFlowFull || isAddressFull {
            // `retryAfterSeconds` applies only to the limit of the address: the limit of a flow never resets.
            throw TooManyCodes(
                retryAfterSeconds: isAddressFull ? max(1, window.since + policy.windowSeconds - now) : nil,
                sentInFlow: isFlowFull ? flow.sends : nil, next: isFlowFull ? flow.startMethod : nil)
        }
        flow.sends += 1
        window.sent += 1
        try tx.set(window, of: address, policy.windowSeconds)
    }

    /// Reverts the count of a message that was not delivered, and counts the failure.
    func giveBack(_ flow: Flow, in tx: Transaction) throws {
        if let stored = try tx.flow(flow.id), stored.sends == flow.sends { try tx.setSends(flow.sends - 1, of: flow.id) }
        var window = try tx.sendWindow(of: address, policy.windowSeconds, at: now)
        if window.sent > 0 {
            window.sent -= 1
            try tx.set(window, of: address, policy.windowSeconds)
        }
        try tx.takeBack(.codes, of: client, at: now)
        var failed = try tx.sendWindow(of: failedAddress, Self.failedSeconds, at: now)
        failed.sent += 1
        try tx.set(failed, of: failedAddress, Self.failedSeconds)
        try tx.countUndelivered(of: client, at: now)
    }
}

extension Transaction {
    /// Counts a message with a link together with the codes to its address.
    ///
    /// - Throws: `TooManyCodes`.
    func countLink(to address: Username, of tenant: TenantRecord, at now: Int64) throws {
        try countMessage(to: .email(address.folded), of: tenant, at: now)
    }

    /// Counts a message that belongs to no flow, together with the codes to its recipient.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`.
    func countMessage(to recipient: Recipient, of tenant: TenantRecord, for client: ClientKey? = nil, at now: Int64) throws {
        try checkUndelivered(of: client, at: now)
        try count(.codes, of: client, at: now)
        let (policy, key) = (tenant.codes, recipient.address(in: tenant.id))
        var window = try sendWindow(of: key, policy.windowSeconds, at: now)
        if window.sent >= policy.sendsPerAddress {
            throw TooManyCodes(retryAfterSeconds: max(1, window.since + policy.windowSeconds - now))
        }
        window.sent += 1
        try set(window, of: key, policy.windowSeconds)
    }
}
