import JSON
import JSONRPC
import Mintmark

/// Sends requests to this process itself, in the same way as through a pipe.
struct Calls {
    private let responder: Responder

    init(_ responder: Responder) { self.responder = responder }

    /// The error of a request.
    struct Refused: Error {
        let error: JSONValue

        var type: String { error["data"]?["type"]?.string ?? "" }
        var message: String { error["message"]?.string ?? "" }

        /// Prints the error to standard error.
        ///
        /// - Returns: The error with which to exit.
        func failure() -> any Error {
            let violations = error["data"]?["violations"]?.array ?? []
            return Printing.failure(
                type: type, message: message,
                violations: violations.map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") })
        }
    }

    /// - Throws: `Refused`.
    func ask(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        let answer = responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) } ?? [:]
        guard let result = answer["result"] else { throw Refused(error: answer["error"] ?? [:]) }
        return result
    }

    /// Like `ask`, but prints an error before it is thrown.
    func result(_ method: String, _ params: JSONValue) throws -> JSONValue {
        do { return try ask(method, params) } catch let refused as Refused { throw refused.failure() }
    }
}
