import JSON

/// Whoever can carry out calls: a `Mintmark`, or what stands in for one in a test. The namespaces hang on it.
public protocol Caller: Sendable {
    /// Calls a method by its name.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait for the answer; nil: as the client was told when it was made.
    ///   - trace: at most 128 characters that stand in the logs and audit records of this call.
    /// - Throws: an `AnsweredError`, or what `Errors.swift` lists.
    func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue
}

extension Caller {
    /// Calls a method by its name, such as one that this client does not know yet, and reads its result as a `Result`, which may be `JSONValue`.
    public func call<Result: WireValue>(
        _ method: String, _ params: JSONObject = [:], timeout: Duration? = nil, trace: String? = nil, as: Result.Type = Result.self
    ) async throws -> Result {
        let answer = try await answer(to: method, params, timeout: timeout, trace: trace)
        do { return try Result(wire: answer) } catch let error as UnexpectedValue {
            throw ProtocolError(method: method, reason: error.description)
        }
    }
}

/// What a method answers in pages, read one after the other: `for try await page in m.pool.listPages() { … }`.
public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
    public typealias Read = @Sendable (_ cursor: String?) async throws -> (Page, String?)

    private let first: String?
    private let read: Read

    /// - Parameters:
    ///   - cursor: where to begin; nil: at the beginning.
    ///   - read: reads a page, and says where the next one begins.
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
