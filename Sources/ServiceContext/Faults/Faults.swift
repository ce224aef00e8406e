import Contract
import Platform
import Storage
import Synchronization

/// The faults that are injected into this process. Without faults, a check costs one atomic read.
public final class Faults: Sendable {
    /// The failing operation and the kind of its failure.
    package enum What: Sendable {
        case method(String, ChosenError)
        case delivery(TestFault.Params.Delivery, to: String?)
        case provider(ProviderOrigin, ProviderFault)
        case store(StoreError)

        package var kind: Contract.Fault.Kind {
            switch self {
            case .method: .method
            case .delivery: .delivery
            case .provider: .provider
            case .store: .store
            }
        }
    }

    /// The misbehavior of a provider.
    public enum ProviderFault: Sendable {
        case down
        case slow(milliseconds: Int64)
    }

    /// An active fault.
    package struct Armed: Sendable {
        package let what: What
        /// The fault as `test.fault` returns it.
        package var shown: Contract.Fault
        package var afterCalls: Int64
        /// The remaining number of failures, or `nil` if the fault lasts until it is cleared or until `end`.
        package var times: Int64?
        /// The end of the fault, in nanoseconds of the monotonic clock.
        package var end: UInt64?

        package init(what: What, shown: Contract.Fault, afterCalls: Int64, times: Int64? = nil, end: UInt64? = nil) {
            self.what = what
            self.shown = shown
            self.afterCalls = afterCalls
            self.times = times
            self.end = end
        }
    }

    private let state = Mutex([Armed]())
    private let count = Atomic<Int>(0)
    private let jump = Atomic<Int64>(0)
    private let onClear = Mutex<ClosureBox<@Sendable () -> Void>>(ClosureBox {})

    public init() {}

    /// The offset of this process's clock, in seconds.
    public var clockJumpSeconds: Int64 { jump.load(ordering: .relaxed) }

    package func jump(by seconds: Int64) { jump.wrappingAdd(seconds, ordering: .relaxed) }

    package func arm(_ fault: Armed) {
        state.withLock { armed in
            armed.append(fault)
            count.store(armed.count, ordering: .releasing)
        }
    }

    /// Returns whether a fault of this kind is active.
    package func isArmed(_ kind: Contract.Fault.Kind) -> Bool {
        count.load(ordering: .relaxed) > 0 && state.withLock { $0.contains { $0.what.kind == kind } }
    }

    /// Sets a closure that runs when the faults are cleared, to remove their consequences.
    public func whenCleared(_ body: @escaping @Sendable () -> Void) { onClear.withLock { $0.closure = body } }

    package func clear() {
        state.withLock { armed in
            armed = []
            count.store(0, ordering: .releasing)
        }
        jump.store(0, ordering: .relaxed)
        onClear.withLock { $0 }.closure()
    }

    /// The active faults.
    package var shown: [Contract.Fault] {
        let now = Monotonic.nanoseconds()
        var all = state.withLock { armed in
            drop(&armed, at: now)
            return armed.map { fault in
                var shown = fault.shown
                shown.afterCalls = fault.afterCalls > 0 ? fault.afterCalls : nil
                shown.times = fault.times
                shown.forMilliseconds = fault.end.map { Int64(($0 - now) / 1_000_000) }
                return shown
            }
        }
        if clockJumpSeconds != 0 { all.append(Contract.Fault(kind: .clock, clockJumpSeconds: clockJumpSeconds)) }
        return all
    }

    private func drop(_ armed: inout [Armed], at now: UInt64) {
        armed.removeAll { $0.times == 0 || $0.end.map { $0 <= now } ?? false }
        count.store(armed.count, ordering: .releasing)
    }

    /// Returns the first active fault that matches, if one is due. Counts down `afterCalls` of matching faults that are not due yet.
    private func take<R>(_ fitting: (What) -> R?) -> R? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        return state.withLock { armed in
            drop(&armed, at: Monotonic.nanoseconds())
            for index in armed.indices {
                guard let found = fitting(armed[index].what) else { continue }
                if armed[index].afterCalls > 0 {
                    armed[index].afterCalls -= 1
                    continue
                }
                armed[index].times = armed[index].times.map { $0 - 1 }
                drop(&armed, at: Monotonic.nanoseconds())
                return found
            }
            return nil
        }
    }

    // MARK: Failing operations

    /// Returns the injected error of a method.
    public func error(of method: String) -> ChosenError? {
        take { if case .method(method, let error) = $0 { error } else { nil } }
    }

    /// Returns the injected misbehavior for a request to this URL.
    public func trouble(at url: String) -> ProviderFault? {
        take { if case .provider(let origin, let trouble) = $0, origin.matches(url) { trouble } else { nil } }
    }

    package func delivery(to recipient: String) -> TestFault.Params.Delivery? {
        take { if case .delivery(let how, let to) = $0, to.map({ $0.lowercased() == recipient.lowercased() }) ?? true { how } else { nil } }
    }

    package func write() -> StoreError? { take { if case .store(let error) = $0 { error } else { nil } } }
}
