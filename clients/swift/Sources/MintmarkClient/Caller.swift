import JSON

/// Performs calls: a `Mintmark`, or a replacement in a test. The namespaces of methods are extensions of it.
public protocol Caller: Sendable {
    /// Calls a method by its name.
    ///
    /// - Parameters:
    ///   - timeout: the time limit of the call, or nil for the client's default.
    ///   - trace: the trace, at most 128 characters, which is written to the logs and audit records of this call.
    /// - Throws: an `APIError`, or one of the errors in `Errors.swift`.
    func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue

    /// Calls a method that reports progress. By default, the progress is ignored.
    ///
    /// - Parameter progress: receives the values in order, in the thread that reads responses, and only until the call returns. Must not
    ///   block.
    func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: @escaping @Sendable (JSONValue) -> Void
    ) async throws -> JSONValue
}

extension Caller {
    public func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: @escaping @Sendable (JSONValue) -> Void
    ) async throws -> JSONValue {
        try await answer(to: method, params, timeout: timeout, trace: trace)
    }

    /// Calls a method that reports progress.
    func call<Result: WireValue, Progress: WireValue>(
        _ method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: (@Sendable (Progress) -> Void)?
    ) async throws -> Result {
        guard let progress else { return try await call(method, params, timeout: timeout, trace: trace) }
        let answer = try await answer(to: method, params, timeout: timeout, trace: trace) { value in
            if let value = try? Progress(wire: value) { progress(value) }
        }
        return try result(of: method, answer)
    }

    /// Calls a method by its name and decodes its result, which can be `JSONValue`. Unlike `UntypedResult`, a
    /// `JSONValue` shows secrets when it is printed.
    public func call<Result: WireValue>(
        _ method: String, _ params: JSONObject = [:], timeout: Duration? = nil, trace: String? = nil, as: Result.Type = Result.self
    ) async throws -> Result {
        try result(of: method, try await answer(to: method, params, timeout: timeout, trace: trace))
    }

    private func result<Result: WireValue>(of method: String, _ answer: JSONValue) throws -> Result {
        do { return try Result(wire: answer) } catch let error as UnexpectedValue {
            throw ProtocolError(method: method, reason: error.description)
        }
    }
}

/// The pages of a list, requested in order: `for try await page in m.pool.listPages() { … }`.
public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
    public typealias Read = @Sendable (_ cursor: String?) async throws -> (Page, String?)

    private let first: String?
    private let read: Read

    /// - Parameters:
    ///   - cursor: the cursor of the first page to read, or nil for the start of the list.
    ///   - read: requests a page and returns it with the cursor of the next page.
    public init(from cursor: String?, _ read: @escaping Read) {
        first = cursor
        self.read = read
    }

    public func makeAsyncIterator() -> Iterator { Iterator(read: read, cursor: first) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let read: Read
        fileprivate var cursor: String?
        fileprivate var isOver = false

        public mutating func next() async throws -> Page? {
            if isOver { return nil }
            let (page, next) = try await read(cursor)
            (cursor, isOver) = (next, next == nil)
            return page
        }
    }
}

/// The items of all pages of a list: `for try await pool in m.pool.listAll() { … }`.
public struct Items<Page: Sendable, Item: Sendable>: AsyncSequence, Sendable {
    private let pages: Pages<Page>
    private let items: @Sendable (Page) -> [Item]

    /// - Parameter items: returns the items of a page.
    public init(_ pages: Pages<Page>, _ items: @escaping @Sendable (Page) -> [Item]) {
        self.pages = pages
        self.items = items
    }

    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), items: items) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var pages: Pages<Page>.Iterator
        fileprivate let items: @Sendable (Page) -> [Item]
        fileprivate var rest: ArraySlice<Item> = []

        public mutating func next() async throws -> Item? {
            while rest.isEmpty {
                guard let page = try await pages.next() else { return nil }
                rest = items(page)[...]
            }
            return rest.popFirst()
        }
    }
}
