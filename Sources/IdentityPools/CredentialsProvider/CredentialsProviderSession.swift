import Contract
import Platform
import Storage

/// A credentials provider that is open in this process. It runs one refresh, search or change at a time; concurrent requests for
/// credentials join the refresh. A change does not wait for a refresh or search: it supersedes them, and their results are discarded.
final class CredentialsProviderSession: Sendable {
    typealias Answer = CredentialsProviderAnswer

    /// The parameters with which the provider was opened.
    struct Settings: Sendable {
        let key: ProviderKey
        let asksCaller: Bool
        let flow: CredentialsProviderOpen.Params.Flow
        let roleArn: String?
        let customRoleArn: String?
        let refreshAheadSeconds: Int64
    }

    private struct Contents: Sendable {
        var memory: CachedCredentials
        var work = Work.none
        /// The number of changes.
        var changes = 0
    }

    private enum Work: Sendable {
        case none
        /// A change ends soon, because it waits only for the store.
        case change
        case search
        case refresh(ProviderRefresh)

        /// The refresh that other calls can join.
        var joinable: ProviderRefresh? { if case .refresh(let refresh) = self { refresh } else { nil } }
    }

    let handle: String
    let settings: Settings
    /// The ID of the store on which the provider was opened. The store may have been reset since.
    let storeId: String
    private let gate: ConditionLock<Contents>

    init(handle: String, settings: Settings, storeId: String = "", memory: CachedCredentials) {
        self.handle = handle
        self.settings = settings
        self.storeId = storeId
        gate = ConditionLock(Contents(memory: memory))
    }

    /// The current memory.
    var memory: CachedCredentials { gate.withLock { $0.memory } }

    /// Changes the memory. A refresh or search that is in progress is superseded, and its waiting calls fail immediately.
    ///
    /// - Throws: The errors of `body`.
    func change<R>(_ body: (inout CachedCredentials) throws -> R) throws -> R {
        var (memory, overtaken, changes) = gate.wait { contents -> (CachedCredentials, ProviderRefresh?, Int)? in
            if case .change = contents.work { return nil }
            defer { contents.work = .change }
            contents.changes += 1
            return (contents.memory, contents.work.joinable, contents.changes)
        }
        overtaken?.finish(.failure(ProviderOvertaken(provider: handle)))
        defer { _ = leave(memory, changes) }
        return try body(&memory)
    }

    /// Runs `body` while no refresh or change is in progress. Other calls wait, except changes.
    ///
    /// - Throws: `ProviderOvertaken`; the errors of `body`.
    func search<R>(_ body: (inout CachedCredentials, Turn) throws -> R) throws -> R {
        var (memory, changes) = gate.wait { contents -> (CachedCredentials, Int)? in
            guard case .none = contents.work else { return nil }
            contents.work = .search
            return (contents.memory, contents.changes)
        }
        let outcome = Result { try body(&memory, Turn(provider: self, changes: changes)) }
        guard leave(memory, changes) else { throw ProviderOvertaken(provider: handle) }
        return try outcome.get()
    }

    /// The state at the start of a refresh or search.
    struct Turn: Sendable {
        fileprivate let provider: CredentialsProviderSession
        fileprivate let changes: Int

        /// Checks that there was no change since the start, so that the result can be stored.
        ///
        /// - Throws: `ProviderOvertaken` after a change.
        func requireCurrent() throws {
            guard provider.gate.withLock({ $0.changes == changes }) else { throw ProviderOvertaken(provider: provider.handle) }
        }
    }

    /// How a call gets credentials.
    enum Outcome {
        case answer(Answer)
        /// By a refresh that another call has begun.
        case joins(ProviderRefresh)
        /// By a refresh, on a thread that may wait.
        case mustWait
    }

    /// Returns the held answer or the refresh that is in progress, or runs `body` as a refresh.
    ///
    /// - Parameter held: Returns the answer that needs no refresh, or `nil`.
    /// - Throws: `ProviderOvertaken`; the errors of `body`.
    func refresh(
        _ call: any CallContext, held: (CachedCredentials) -> Answer?, _ body: (inout CachedCredentials, Turn) throws -> Answer
    ) throws -> Outcome {
        let mayWait = call.storeAccess.mayWait
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
        case .answer(let answer): return .answer(answer)
        case .later: return .mustWait
        case .lead(let refresh, let memory, let changes):
            return .answer(try run(refresh, from: memory, changes: changes, body))
        case .join(let refresh): return .joins(refresh)
        }
    }

    /// Runs `body` as a refresh that other calls can join, after the work in progress. If it fails while a token is still awaited, the
    /// joined calls receive the request for the token.
    ///
    /// - Parameter held: Returns the answer that needs no refresh, or `nil`.
    func refreshNext(
        held: @Sendable (CachedCredentials) throws -> Answer?,
        _ body: (inout CachedCredentials, Turn) throws -> Answer
    ) throws -> Answer {
        let start = gate.wait { contents -> Result<Start, any Error>? in
            guard case .none = contents.work else { return nil }
            return Result { try held(contents.memory).map { .answer($0) } ?? lead(&contents) }
        }
        switch try start.get() {
        case .lead(let refresh, let memory, let changes): return try run(refresh, from: memory, changes: changes, body)
        case .answer(let answer): return answer
        case .join, .later: preconditionFailure("the wait ends when no work is in progress")
        }
    }

    private enum Start {
        case answer(Answer)
        case lead(ProviderRefresh, CachedCredentials, changes: Int)
        case join(ProviderRefresh)
        case later
    }

    private func lead(_ contents: inout Contents) -> Start {
        let refresh = ProviderRefresh()
        contents.work = .refresh(refresh)
        return .lead(refresh, contents.memory, changes: contents.changes)
    }

    private func run(
        _ refresh: ProviderRefresh, from memory: CachedCredentials, changes: Int, _ body: (inout CachedCredentials, Turn) throws -> Answer
    ) throws -> Answer {
        var memory = memory
        let outcome = Result { try body(&memory, Turn(provider: self, changes: changes)) }
        // After a change, the calls that joined have already received an error.
        guard leave(memory, changes) else { throw ProviderOvertaken(provider: handle) }
        if case .failure = outcome, let question = Answer(asking: memory) {
            refresh.finish(.success(question))
        } else {
            refresh.finish(outcome)
        }
        return try outcome.get()
    }

    /// Stores the result and ends the work. Returns `false`, without any effect, if there was a change since the start.
    private func leave(_ memory: CachedCredentials, _ changes: Int) -> Bool {
        let isCurrent = gate.withLock { contents in
            guard contents.changes == changes else { return false }
            contents = Contents(memory: memory, changes: changes)
            return true
        }
        gate.broadcast()
        return isCurrent
    }
}
