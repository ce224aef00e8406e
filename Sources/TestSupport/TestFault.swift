import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

extension TestService {
    /// Injects a fault or clears all faults, and returns the active ones.
    ///
    /// - Throws: `InvalidParams`, `ClockOutOfRange`.
    public func fault(_ request: TestFault.Params, _ call: any CallContext) throws -> TestFault.Result {
        try request.check()
        let what = try request.fault(at: context.clock.now)
        guard let faults = context.faults else { return TestFault.Result(armed: []) }
        if case .clockJumpSeconds(let seconds) = request.what {
            let moment = context.clock.now - (request.clear ? faults.clockJumpSeconds : 0) + seconds
            guard VirtualClock.range ~= moment else { throw ClockOutOfRange(asked: moment) }
        }
        if request.clear { faults.clear() }
        if let what { faults.arm(request.armed(what)) }
        if case .clockJumpSeconds(let seconds) = request.what { faults.jump(by: seconds) }
        return TestFault.Result(armed: faults.shown)
    }
}

extension TestFault.Params {
    /// - Throws: `InvalidParams` if a member does not belong to the kind of fault.
    fileprivate func check() throws {
        let kind: Contract.Fault.Kind? =
            switch what {
            case .method: .method
            case .delivery: .delivery
            case .provider: .provider
            case .store: .store
            case .clockJumpSeconds: .clock
            case nil: nil
            }
        var violations: [Violation] = []
        func only(_ wanted: Contract.Fault.Kind, _ name: String, _ isGiven: Bool) {
            guard isGiven, kind != wanted else { return }
            violations.append(Violation(pointer: "/\(name)", rule: "with", message: "\(name) is allowed only with \(wanted.rawValue)."))
        }
        func needs(_ wanted: Bool, _ name: String, _ isGiven: Bool, why: String) {
            guard wanted, !isGiven else { return }
            violations.append(Violation(pointer: "/\(name)", rule: "required", message: "\(name) is missing: \(why)."))
        }
        only(.method, "error", error != nil)
        only(.method, "data", data != nil)
        only(.delivery, "to", to != nil)
        only(.provider, "failure", failure != nil)
        only(.provider, "delayMilliseconds", delayMilliseconds != nil)
        only(.store, "forMilliseconds", forMilliseconds != nil)
        func countable(_ name: String, _ isGiven: Bool) {
            guard isGiven, kind == nil || kind == .clock else { return }
            violations.append(
                Violation(pointer: "/\(name)", rule: "with", message: "\(name) is allowed only with method, delivery, provider or store."))
        }
        countable("afterCalls", afterCalls > 0)
        countable("times", times != nil)
        needs(kind == .method, "error", error != nil, why: "the type of the returned error")
        needs(kind == .provider, "failure", failure != nil, why: "down or slow")
        needs(failure == .slow, "delayMilliseconds", delayMilliseconds != nil, why: "the delay of the provider")
        if failure == .down, delayMilliseconds != nil {
            violations.append(
                Violation(pointer: "/delayMilliseconds", rule: "with", message: "delayMilliseconds is allowed only with the failure slow."))
        }
        if forMilliseconds != nil, times != nil {
            violations.append(Violation(pointer: "/times", rule: "with", message: "Use times or forMilliseconds, not both."))
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }

    /// The fault to inject, or `nil` for a clock fault or if none is given.
    ///
    /// - Parameter now: The current time, used for generated times in errors.
    /// - Throws: `InvalidParams` if the method, error or provider is unknown, or if the method is one that removes faults.
    fileprivate func fault(at now: Int64) throws -> Faults.What? {
        switch what {
        case .method(let name):
            guard MethodTable.all.contains(where: { $0.name == name }) else {
                let hint = NearestNames.hint(name, among: MethodTable.all.map(\.name), otherwise: "To list the methods, call rpc.discover.")
                throw InvalidParams(violations: [Violation(pointer: "/method", rule: "enum", message: "Unknown method \(name).\(hint)")]
                )
            }
            guard name != TestFault.info.name, name != TestReset.info.name else {
                throw InvalidParams(violations: [
                    Violation(pointer: "/method", rule: "enum", message: "\(name) removes faults and cannot be made to fail.")
                ])
            }
            return .method(
                name, try ChosenError(type: error ?? "", data: data ?? [:], at: (type: "/error", data: "/data"), now: now))
        case .delivery(let how): return .delivery(how, to: to)
        case .provider(let place):
            guard let origin = ProviderOrigin(place) else {
                throw InvalidParams(violations: [
                    Violation(
                        pointer: "/provider", rule: "host",
                        message: "It must be a host or a URL with a host, such as https://login.example.com or login.example.com:8443.")
                ])
            }
            return .provider(origin, failure == .slow ? .slow(milliseconds: delayMilliseconds ?? 0) : .down)
        case .store(let how):
            return switch how {
            case .busy: .store(.busy)
            case .full: .store(.full)
            case .readOnly: .store(.readOnly(reason: "test.fault is active"))
            }
        case .clockJumpSeconds, nil: return nil
        }
    }

    fileprivate func armed(_ what: Faults.What) -> Faults.Armed {
        var shown = Contract.Fault(kind: what.kind)
        (shown.error, shown.to, shown.failure, shown.delayMilliseconds) = (error, to, failure?.rawValue, delayMilliseconds)
        switch self.what {
        case .method(let name): shown.method = name
        case .delivery(let how): shown.delivery = how.rawValue
        case .provider(let place): shown.provider = place
        case .store(let how): shown.store = how.rawValue
        case .clockJumpSeconds, nil: break
        }
        let isEndless = what.kind == .provider || forMilliseconds != nil
        return Faults.Armed(
            what: what, shown: shown, afterCalls: afterCalls, times: times ?? (isEndless ? nil : 1),
            end: forMilliseconds.map { Monotonic.nanoseconds() + UInt64($0) * 1_000_000 })
    }
}
