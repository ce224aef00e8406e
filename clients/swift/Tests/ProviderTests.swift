import MintmarkClient
import Synchronization
import Testing

@Suite("Concurrent use of the credentials provider", .timeLimit(.minutes(10)))
struct ProviderTests {
    /// Simulates a Mintmark that requires a token, and holds the responses of one method until they are released.
    private final class ClosureBox: Caller {
        private struct State {
            var calls: [String] = []
            var isReleased = false
            var wasCancelled = false
        }

        private let held: String?
        private let answers: JSONValue
        private let state = Mutex(State())

        init(
            holding held: String? = nil,
            answers: JSONValue = [
                "provider": "p", "state": "tokenRequired", "continuationToken": "c", "logins": [:], "reason": "asked",
            ]
        ) {
            (self.held, self.answers) = (held, answers)
        }

        func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
            state.withLock { $0.calls.append(method) }
            if method == held { try await hold() }
            return answers
        }

        /// Waits until it is released. Records whether a waiting task was canceled.
        func hold() async throws {
            while true {
                let isReleased = state.withLock { $0.isReleased }
                if Task.isCancelled { state.withLock { $0.wasCancelled = true } }
                try Task.checkCancellation()
                if isReleased { return }
                await Task.yield()
            }
        }

        func release() { state.withLock { $0.isReleased = true } }
        func note(_ call: String) { state.withLock { $0.calls.append(call) } }
        func count(_ call: String) -> Int { state.withLock { $0.calls.count { $0 == call } } }
        var wasCancelled: Bool { state.withLock { $0.wasCancelled } }
    }

    /// Counts how often work starts if two callers share it, the first one is canceled and a third one joins. Returns nil if the work was
    /// not shared.
    private func share(_ held: ClosureBox, _ work: String, calls: String, _ call: @escaping @Sendable () async throws -> Void) async throws
        -> Int?
    {
        let first = Task { try await call() }
        while held.count(work) == 0 { await Task.yield() }
        let second = Task { try await call() }
        while held.count(calls) < 2 { await Task.yield() }
        for _ in 0..<200 { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let third = Task { try await call() }
        for _ in 0..<1000 where held.count(work) == 1 { await Task.yield() }
        let begun = held.count(work)
        held.release()
        _ = await (second.result, third.result)
        // If the second caller arrived after the cancellation of the first, the work was correctly canceled.
        return held.wasCancelled ? nil : begun
    }

    @Test("a canceled caller does not cancel a shared token request, and the backend is called once")
    func sharedToken() async throws {
        var begun: Int?
        while begun == nil {
            let held = ClosureBox()
            let provider = CredentialsProvider(held, poolId: "p") { _ in
                held.note("backend")
                try await held.hold()
                return ("i", "t")
            }
            begun = try await share(held, "backend", calls: "credentialsProvider.get") { _ = try await provider.get() }
        }
        #expect(begun == 1)
    }

    @Test("a canceled caller does not cancel a shared opening, and the provider is opened once")
    func sharedOpening() async throws {
        var begun: Int?
        while begun == nil {
            let held = ClosureBox(holding: "credentialsProvider.open")
            let provider = CredentialsProvider(held, poolId: "p") { _ in ("i", "t") }
            begun = try await share(held, "credentialsProvider.open", calls: "enters") {
                held.note("enters")
                try await provider.clearCredentials()
            }
        }
        #expect(begun == 1)
    }

    @Test("the next call after a failed token request calls the backend again")
    func failedToken() async throws {
        struct Down: Error {}
        let held = ClosureBox()
        let provider = CredentialsProvider(held, poolId: "p") { _ in
            held.note("backend")
            throw Down()
        }
        for _ in 0..<2 { await #expect(throws: Down.self) { try await provider.get() } }
        #expect(held.count("backend") == 2)
    }

    @Test("a provider that is closed while it is being opened is closed on the server")
    func closedWhileOpened() async throws {
        let held = ClosureBox(holding: "credentialsProvider.open")
        let provider = CredentialsProvider(held, poolId: "p") { _ in ("i", "t") }
        let getting = Task { try await provider.get() }
        while held.count("credentialsProvider.open") == 0 { await Task.yield() }
        try await provider.close()
        held.release()
        await #expect(throws: ClientClosedError.self) { try await getting.value }
        #expect(held.count("credentialsProvider.close") == 1 && held.count("credentialsProvider.get") == 0)
        await #expect(throws: ClientClosedError.self) { try await provider.get() }
        #expect(held.count("credentialsProvider.open") == 1)
    }

    @Test("a result of an unexpected type fails with advice")
    func wrongAnswers() async throws {
        let provider = CredentialsProvider(ClosureBox(answers: ["provider": "p", "state": "ready"]), poolId: "p") { _ in ("i", "t") }
        let missing = await #expect(throws: ProtocolError.self) { try await provider.identityId() }
        #expect(missing?.description.contains("credentialsProvider.identityId") == true)
        let wrong = await #expect(throws: ProtocolError.self) { try await PoolMethods(ClosureBox(answers: 5)).list() }
        let text = wrong?.description ?? ""
        #expect(
            text.hasPrefix("The result of pool.list does not match the contract") && text.contains("compare mintmark --version"), "\(text)")
    }
}
