import Contract
import Platform
import Storage

/// A credential provider that is open in this process. One refresh or change is under way at a time; who wants credentials
/// meanwhile joins the refresh.
final class OpenProvider: Sendable {
    typealias Answer = CredentialsProviderAnswer

    /// How it was opened.
    struct Settings: Sendable {
        let key: ProviderKey
        let asksCaller: Bool
        let flow: CredentialsProviderOpen.Params.Flow
        let roleArn: String?
        let customRoleArn: String?
        let refreshAheadSeconds: Int64
    }

    private struct Contents: Sendable {
        var memory: ProviderMemory
        var work = Work.none
    }

    private enum Work: Sendable {
        case none
        case change
        case refresh(ProviderRefresh)
    }

    let handle: String
    let settings: Settings
    /// The store that it was opened on, which may have been reset since.
    let storeId: String
    private let gate: Gate<Contents>

    init(handle: String, settings: Settings, storeId: String = "", memory: ProviderMemory) {
        self.handle = handle
        self.settings = settings
        self.storeId = storeId
        gate = Gate(Contents(memory: memory))
    }

    /// What it holds at this moment.
    var memory: ProviderMemory { gate.withLock { $0.memory } }

    /// Changes what is held, while no refresh is under way.
    ///
    /// - Throws: `WouldWait` where nobody may wait; what `body` throws.
    func change<R>(_ body: (inout ProviderMemory) throws -> R) throws -> R {
        if Patience.current == .none { throw WouldWait() }
        var memory = gate.wait { contents -> ProviderMemory? in
            guard case .none = contents.work else { return nil }
            contents.work = .change
            return contents.memory
        }
        defer { leave(memory) }
        return try body(&memory)
    }

    /// Answers what is held, or joins the refresh that is under way, or else runs `body` as one.
    ///
    /// - Parameter held: what is to be answered without a refresh.
    /// - Throws: `AnsweredByOther` for who joins; `WouldWait` where nobody may wait; what `body` throws.
    func refresh(
        _ call: any CallContext, held: (ProviderMemory) -> Answer?, _ body: (inout ProviderMemory) throws -> Answer
    ) throws -> Answer {
        let mayWait = Patience.current != .none
        let start = gate.wait { contents -> Start? in
            switch contents.work {
            case .refresh(let refresh): return .join(refresh)
            case .change: return mayWait ? nil : .later
            case .none:
                if let answer = held(contents.memory) { return .answer(answer) }
                guard mayWait else { return .later }
                return lead(&contents)
            }
        }
        switch start {
        case .answer(let answer): return answer
        case .later: throw WouldWait()
        case .lead(let refresh, let memory): return try run(refresh, memory, body)
        case .join(let refresh):
            if call.mayAnswerLater { throw AnsweredByOther { listener in refresh.whenDone { listener($0.map { $0 }) } } }
            return try refresh.outcome.get()
        }
    }

    /// Runs `body` as a refresh that others join, after what is under way. If it fails while a token is still awaited, who joined
    /// is asked for the token.
    ///
    /// - Parameter held: what is to be answered without a refresh.
    func refreshNext(
        held: @Sendable (ProviderMemory) throws -> Answer?, _ body: (inout ProviderMemory) throws -> Answer
    ) throws -> Answer {
        if Patience.current == .none { throw WouldWait() }
        let start = gate.wait { contents -> Result<Start, any Error>? in
            guard case .none = contents.work else { return nil }
            return Result { try held(contents.memory).map { .answer($0) } ?? lead(&contents) }
        }
        switch try start.get() {
        case .lead(let refresh, let memory): return try run(refresh, memory, body)
        case .answer(let answer): return answer
        case .join, .later: throw WouldWait()
        }
    }

    private enum Start {
        case answer(Answer)
        case lead(ProviderRefresh, ProviderMemory)
        case join(ProviderRefresh)
        case later
    }

    private func lead(_ contents: inout Contents) -> Start {
        let refresh = ProviderRefresh()
        contents.work = .refresh(refresh)
        return .lead(refresh, contents.memory)
    }

    private func run(_ refresh: ProviderRefresh, _ memory: ProviderMemory, _ body: (inout ProviderMemory) throws -> Answer) throws -> Answer
    {
        var memory = memory
        let outcome: Result<Answer, any Error>
        do { outcome = .success(try body(&memory)) } catch { outcome = .failure(error) }
        leave(memory)
        if case .failure = outcome, let question = Answer(asking: memory) {
            refresh.finish(.success(question))
        } else {
            refresh.finish(outcome)
        }
        return try outcome.get()
    }

    private func leave(_ memory: ProviderMemory) {
        gate.withLock { $0 = Contents(memory: memory) }
        gate.broadcast()
    }
}

/// A refresh that is under way, for all who wait for it.
final class ProviderRefresh: Sendable {
    typealias Outcome = Result<CredentialsProviderAnswer, any Error>
    typealias Listener = @Sendable (Outcome) -> Void

    private let gate = Gate<(outcome: Outcome?, listeners: [Listener])>((nil, []))

    /// Waits for the end.
    var outcome: Outcome { gate.wait { $0.outcome } }

    /// Calls the listener at the end; at once if that has come.
    func whenDone(_ listener: @escaping Listener) {
        let outcome = gate.withLock { contents in
            if contents.outcome == nil { contents.listeners.append(listener) }
            return contents.outcome
        }
        if let outcome { listener(outcome) }
    }

    func finish(_ outcome: Outcome) {
        let listeners = gate.withLock { contents in
            defer { contents = (outcome, []) }
            return contents.listeners
        }
        gate.broadcast()
        for listener in listeners { listener(outcome) }
    }
}
