import Contract
import Crypto
import JSON

/// An event that a transaction stores, without ID and position.
package struct SecurityEventDraft: Sendable {
    package let type: EventType
    package var members: JSONObject

    /// - Parameter account: The account and its tenant.
    package init(_ type: EventType, by method: String?, account: (tenantId: String, id: String)? = nil) {
        self.type = type
        members = [:]
        members["method"] = method.map { .string($0) }
        if let account {
            members["tenantId"] = .string(account.tenantId)
            members["accountId"] = .string(account.id)
        }
    }

    private static let positions = Positions()

    /// The ID of an event, ordered by time. It is not drawn from a seed: whether an event is stored depends on more than the requests.
    static func newId(at now: Int64) -> String { SystemRandom().uuid(at: now, position: positions.next(in: now)) }
}
