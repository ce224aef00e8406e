import Accounts
import Contract
import Crypto
import IdentityPools
import Platform
import ServiceContext
import Storage

extension TestService {
    /// Resets the store to its initial state for all processes, and resets the test state of this process.
    public func reset(_ request: TestReset.Params, _ call: any CallContext) throws -> TestReset.Result {
        let key = SessionKeySetup.NewKey(SystemRandom().bytes(40), vault: context.vault)
        let id = SystemRandom().uuid()
        try context.driver.write { tx in
            try tx.lock(["clock", "outbox", "seed", "session_key", "testing"])
            try tx.advanceEpoch()
            let start = try tx.storeFact(VirtualClock.startFact)
            try tx.empty(hooks.tables.filter { !Self.lasting.contains($0) })
            try tx.setTestingMark(true, id: id)
            try VirtualClock.restart(at: start, in: tx)
            try tx.replaceSessionKeys(with: key)
        }
        context.faults?.clear()
        snapshots.forget()
        provider.forget()
        context.callbacks.turn()
        let (setting, now) = try VirtualClock(context.driver).read()
        return TestReset.Result(now: now, frozen: setting.frozenAt != nil)
    }

    /// The tables that are not cleared. The data key is kept, because other processes use it.
    private static let lasting: Set<String> = ["data_key"]
}
