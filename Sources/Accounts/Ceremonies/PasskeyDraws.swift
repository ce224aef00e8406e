import Crypto
import Platform
import ServiceContext
import Storage

/// The challenge and the ID of a ceremony, drawn before the transaction.
struct PasskeyDraws: Sendable {
    let id: String
    let challenge: String
    let userHandle: [UInt8]

    init(_ context: AccountsContext) {
        id = Hex.encode(context.random.bytes(16))
        challenge = Base64URL.encode(context.random.bytes(32))
        userHandle = context.random.bytes(32)
    }

    /// Returns the user handle of an account. The first registration stores a new one.
    func userHandle(of accountId: String, in tx: Transaction) throws -> [UInt8] {
        if let handle = try tx.userHandle(of: accountId) { return handle }
        try tx.setUserHandle(userHandle, of: accountId)
        return userHandle
    }

    /// Returns the challenge, or the next one that a test has queued.
    func challenge(_ context: AccountsContext, in tx: Transaction) throws -> String {
        guard context.isTesting, let next = try tx.queuedPasskeyChallenges().first else { return challenge }
        try tx.queuePasskeyChallenges(Array(try tx.queuedPasskeyChallenges().dropFirst()))
        return next
    }
}

extension Transaction {
    private static let queue = "test.passkeyChallenges"

    /// The challenges that a test has queued for the next ceremonies, next one first.
    package func queuedPasskeyChallenges() throws -> [String] {
        try storeFact(Self.queue)?.split(separator: " ").map(String.init) ?? []
    }

    package func queuePasskeyChallenges(_ challenges: [String]) throws {
        try setStoreFact(Self.queue, challenges.isEmpty ? nil : challenges.joined(separator: " "))
    }
}
