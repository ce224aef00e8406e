import Accounts
import Contract
import Platform
import ServiceContext
import Storage

/// Sends messages to the outbox of a testing store through the same interface as real deliveries, so that injected delivery faults apply.
struct OutboxCarrier: EmailSender, SMSSender {
    let database: any Database
    let clock: any WallClock
    let faults: Faults

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        let fault = faults.delivery(to: message.to)
        if fault == .refused { throw DeliveryFailure(reason: "test.fault rejects it; to end the fault, call test.fault with clear") }
        let now = clock.now
        do {
            try database.write { tx in
                try tx.lock(["outbox"])
                try tx.insert(message, at: now)
            }
        } catch { throw DeliveryFailure(reason: "the outbox cannot be written: \(error)") }
        if fault == .mayHaveArrived {
            throw DeliveryFailure(
                reason: "test.fault withholds the response; to end the fault, call test.fault with clear", mayHaveArrived: true)
        }
    }
}

extension MessageSender {
    /// Returns a carrier that writes to the outbox of a testing store while delivery faults are active, otherwise `nil`.
    public static func outbox(of context: ServiceContext) -> MessageSender? {
        guard let faults = context.faults, faults.isArmed(.delivery) else { return nil }
        let outbox = OutboxCarrier(database: context.driver, clock: context.clock, faults: faults)
        return MessageSender(mailer: outbox, texter: outbox)
    }
}
