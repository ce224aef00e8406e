import JSON

/// A client with a testing store, which has a virtual clock and captures messages, and the methods `test.*`.
public final class TestingMintmark: Caller {
    private let mintmark: Mintmark

    /// - Parameter mintmark: a client with a testing store.
    package init(_ mintmark: Mintmark) { self.mintmark = mintmark }

    /// Starts a process with an empty testing store in memory.
    public static func start(log: Mintmark.LogTarget = .standardError) async throws -> TestingMintmark {
        var options = Mintmark.Options()
        options.log = log
        return try await start(options)
    }

    /// Starts a process with a testing store. The store is in memory, unless the options name a store or an app.
    ///
    /// - Throws: the errors of `Mintmark.start`.
    public static func start(_ options: Mintmark.Options) async throws -> TestingMintmark {
        TestingMintmark(try await Mintmark.start(options.forTesting))
    }

    /// The methods `test.*`.
    public var test: TestMethods { TestMethods(self) }

    public func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
        try await mintmark.answer(to: method, params, timeout: timeout, trace: trace)
    }

    public func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: @escaping @Sendable (JSONValue) -> Void
    ) async throws -> JSONValue {
        try await mintmark.answer(to: method, params, timeout: timeout, trace: trace, progress: progress)
    }

    /// The notifications that arrive after this call, in order, until the client is closed.
    public var notifications: AsyncStream<Mintmark.Notification> { mintmark.notifications }

    /// Lets Mintmark finish the requests that it has received, then ends it. Later calls fail with `ClientClosedError`.
    public func close(within grace: Duration = .seconds(10)) async { await mintmark.close(within: grace) }
}

extension Mintmark.Options {
    /// The same options with a testing store.
    package var forTesting: Mintmark.Options {
        var options = self
        if store == nil, app == nil { options.store = Self.inMemory }
        options.testing = true
        return options
    }
}
