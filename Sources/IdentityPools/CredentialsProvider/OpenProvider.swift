import Contract
import Platform
import Storage

/// A credential provider that is open in this process. One refresh, search or change is under way at a time; who wants credentials
/// meanwhile joins the refresh. A change waits for none of them: it overtakes whatever looks for a user's credentials, and that is
/// not held any more when it comes.
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
        /// How many changes there were.
        var changes = 0
    }

    private enum Work: Sendable {
        case none
        /// Soon over: it waits for nobody but the store.
        case change
        case search
        case refresh(ProviderRefresh)

        /// Whom others may have joined.
        var joinable: ProviderRefresh? { if case .refresh(let refresh) = self { refresh } else { nil } }
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

    /// Changes what is held. A refresh or search that is under way is overtaken: who waits for it is told so at once.
    ///
    /// - Throws: `WouldWait` where nobody may wait; what `body` throws.
    func change<R>(_ body: (inout ProviderMemory) throws -> R) throws -> R {
        if Patience.current == .none { throw WouldWait() }
        var (memory, overtaken, changes) = gate.wait { contents -> (ProviderMemory, ProviderRefresh?, Int)? in
            if case .change = contents.work { return nil }
            defer { contents.work = .change }
            contents.changes += 1
            return (contents.memory, contents.work.joinable, contents.changes)
        }
        overtaken?.finish(.failure(ProviderOvertaken(provider: handle)))
        defer { _ = leave(memory, changes) }
        return try body(&memory)
    }

    /// Runs `body` while no refresh or change is under way. Others wait, but for those who change.
    ///
    /// - Throws: `WouldWait` where nobody may wait; `ProviderOvertaken`; what `body` throws.
    func search<R>(_ body: (inout ProviderMemory, Turn) throws -> R) throws -> R {
        if Patience.current == .none { throw WouldWait() }
        var (memory, changes) = gate.wait { contents -> (ProviderMemory, Int)? in
            guard case .none = contents.work else { return nil }
            contents.work = .search
            return (contents.memory, contents.changes)
        }
        let outcome = Result { try body(&memory, Turn(provider: self, changes: changes)) }
        guard leave(memory, changes) else { throw ProviderOvertaken(provider: handle) }
        return try outcome.get()
    }

    /// What a refresh or search was begun with.
    struct Turn: Sendable {
        fileprivate let provider: OpenProvider
        fileprivate let changes: Int

        /// Whatever is written for the provider must be what it still wants.
        ///
        /// - Throws: `ProviderOvertaken` after a change.
        func requireCurrent() throws {
            guard provider.gate.withLock({ $0.changes == changes }) else { throw ProviderOvertaken(provider: provider.handle) }
        }
    }

    /// Answers what is held, or joins the refresh that is under way, or else runs `body` as one.
    ///
    /// - Parameter held: what is to be answered without a refresh.
    /// - Throws: `AnsweredByOther` for who joins; `WouldWait` where nobody may wait; `ProviderOvertaken`; what `body` throws.
    func refresh(
        _ call: any CallContext, held: (ProviderMemory) -> Answer?, _ body: (inout ProviderMemory, Turn) throws -> Answer
    ) throws -> Answer {
        let mayWait = Patience.current != .none
        let start = gate.wait { contents -> Start? in
            switch contents.work {
            case .refresh(let refresh): return .join(refresh)
            case .change, .search: return mayWait ? nil : .later
            case .none:
                if let answer = held(contents.memory) { return .answer(answer) }
                guard mayWait else { return .later }
                return lead(&contents)
            }
        }
        switch start {
        case .answer(let answer): return answer
        case .later: throw WouldWait()
        case .lead(let refresh, let memory, let changes): return try run(refresh, memory, changes, body)
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
        held: @Sendable (ProviderMemory) throws -> Answer?, _ body: (inout ProviderMemory, Turn) throws -> Answer
    ) throws -> Answer {
        if Patience.current == .none { throw WouldWait() }
        let start = gate.wait { contents -> Result<Start, any Error>? in
            guard case .none = contents.work else { return nil }
            return Result { try held(contents.memory).map { .answer($0) } ?? lead(&contents) }
        }
        switch try start.get() {
        case .lead(let refresh, let memory, let changes): return try run(refresh, memory, changes, body)
        case .answer(let answer): return answer
        case .join, .later: throw WouldWait()
        }
    }

    private enum Start {
        case answer(Answer)
        case lead(ProviderRefresh, ProviderMemory, changes: Int)
        case join(ProviderRefresh)
        case later
    }

    private func lead(_ contents: inout Contents) -> Start {
        let refresh = ProviderRefresh()
        contents.work = .refresh(refresh)
        return .lead(refresh, contents.memory, changes: contents.changes)
    }

    private func run(
        _ refresh: ProviderRefresh, _ memory: ProviderMemory, _ changes: Int, _ body: (inout ProviderMemory, Turn) throws -> Answer
    ) throws -> Answer {
        var memory = memory
        let outcome = Result { try body(&memory, Turn(provider: self, changes: changes)) }
        // Who waited has been told by whoever has overtaken it.
        guard leave(memory, changes) else { throw ProviderOvertaken(provider: handle) }
        if case .failure = outcome, let question = Answer(asking: memory) {
            refresh.finish(.success(question))
        } else {
            refresh.finish(outcome)
        }
        return try outcome.get()
    }

    /// Answers false, and leaves everything as it is, if there was a change since.
    private func leave(_ memory: ProviderMemory, _ changes: Int) -> Bool {
        let isCurrent = gate.withLock { contents in
            guard contents.changes == changes else { return false }
            contents = Contents(memory: memory, changes: changes)
            return true
        }
        gate.broadcast()
        return isCurrent
    }
}
