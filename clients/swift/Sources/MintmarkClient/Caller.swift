import JSON

/// Performs calls: a `Mintmark`, or a replacement in a test. The namespaces of methods are extensions of it.
public protocol Caller: Sendable {
    /// Calls a method by its name.
    ///
    /// - Parameters:
    ///   - timeout: the time limit of the call, or nil for the client's default.
    ///   - trace: the trace, at most 128 characters, which is written to the logs and audit records of this call.
    /// - Throws: an `AnsweredError`, or one of the errors in `Errors.swift`.
    func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue
}

extension Caller {
    /// Calls a method by its name and decodes its result, which can be `JSONValue`. Use this for methods that this client does not know.
    public func call<Result: WireValue>(
        _ method: String, _ params: JSONObject = [:], timeout: Duration? = nil, trace: String? = nil, as: Result.Type = Result.self
    ) async throws -> Result {
        let answer = try await answer(to: method, params, timeout: timeout, trace: trace)
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
