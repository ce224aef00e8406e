import Accounts
import Contract
import ServiceContext

extension TestService {
    /// Gets or sets the virtual clock. The changes are applied in this order: reset, set, advance, freeze or unfreeze. With `settle`, work
    /// that is due at the new time is done before the method returns.
    ///
    /// - Throws: `ClockOutOfRange`.
    public func clock(_ request: TestClock.Params, _ call: any CallContext) throws -> TestClock.Result {
        let clock = VirtualClock(context.driver)
        let reads = request.freeze == nil && request.setAt == nil && request.advanceSeconds == nil && !request.reset
        let before = reads ? 0 : try clock.read().now
        let (setting, now) = reads ? try clock.read() : try clock.change { try Self.turn($0, request, machine: $1) }
        if !reads {
            context.callbacks.turn()
            context.hooks.clockMoved(by: now - before)
        }
        if !reads, request.settle { try hooks.settle() }
        return TestClock.Result(now: now, frozen: setting.frozenAt != nil)
    }

    private static func turn(_ before: VirtualClock.Setting, _ request: TestClock.Params, machine: Int64) throws -> VirtualClock.Setting {
        let setting = request.reset ? VirtualClock.Setting() : before
        let moment = (request.setAt ?? setting.now(machine)) + (request.advanceSeconds ?? 0)
        guard VirtualClock.range ~= moment else { throw ClockOutOfRange(asked: moment) }
        let isFrozen = request.freeze ?? (setting.frozenAt != nil)
        return VirtualClock.Setting(frozenAt: isFrozen ? moment : nil, offset: moment - machine)
    }
}
