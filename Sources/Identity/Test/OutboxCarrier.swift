import Contract
import Platform
import Storage

/// Carries messages to the outbox of a testing store in the way that real ones take, so that what a test wants to fail fails there.
struct OutboxCarrier: Mailer, Texter {
    let database: any Database
    let clock: any WallClock
    let faults: Faults

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        let fault = faults.delivery(to: message.to)
        if fault == .refused { throw DeliveryFailure(reason: "test.fault refuses it; test.fault {clear: true} ends that") }
        let now = clock.now
        do {
            try database.write { tx in
                try tx.lock(["outbox"])
                try tx.insert(message, at: now)
            }
        } catch { throw DeliveryFailure(reason: "the outbox cannot be written: \(error)") }
        if fault == .mayHaveArrived {
            throw DeliveryFailure(reason: "test.fault keeps the answer back; test.fault {clear: true} ends that", mayHaveArrived: true)
        }
    }
}

extension Surroundings {
    /// Who carries messages away, nil if they stay in the store.
    var carrier: Carrier? {
        guard let faults, faults.isArmed(.delivery) else { return delivery.carrier }
        let outbox = OutboxCarrier(database: driver, clock: clock, faults: faults)
        return Carrier(mailer: outbox, texter: outbox)
    }
}
