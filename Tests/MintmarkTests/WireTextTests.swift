import Contract
import JSON
import JSONRPC
import Testing

/// The errors of the JSON-RPC module have the same codes, messages and data as those of the contract.
struct WireTextTests {
    /// Each error of the JSON-RPC module with the corresponding error of the contract.
    private static let pairs: [(any ResponseError, any ContractError)] = [
        (JSONRPC.InvalidRequest("a request must be an object"), Contract.InvalidRequest(reason: "a request must be an object")),
        (
            JSONRPC.MethodNotFound("pool.crate", nearest: ["pool.create"]),
            Contract.MethodNotFound(method: "pool.crate", nearest: ["pool.create"])
        ),
        (JSONRPC.MethodNotFound("x", nearest: []), Contract.MethodNotFound(method: "x", nearest: [])),
        (
            JSONRPC.MethodNotFound("test.clock", nearest: [], testingOption: "--testing"),
            Contract.MethodNotFound(method: "test.clock", nearest: [], testingOption: "--testing")
        ),
        (JSONRPC.InternalError(incident: "7f"), Contract.InternalError(incident: "7f")),
        (JSONRPC.RequestCancelled(), Contract.RequestCancelled()),
        (JSONRPC.ShuttingDown(), Contract.ShuttingDown()),
        (JSONRPC.ResultTooLarge(limit: 7), Contract.ResultTooLarge(maximumBytes: 7)),
        (JSONRPC.TooManyRequests(), Contract.TooManyRequests()),
    ]

    @Test("an error that is returned without a handler equals the contract's error", arguments: pairs.indices)
    func same(number: Int) {
        let (wire, contract) = Self.pairs[number]
        #expect((wire.code, wire.type) == (type(of: contract).code, type(of: contract).type))
        #expect(wire.message == contract.message)
        var (one, other) = (JSONWriter(), JSONWriter())
        wire.writeData(to: &one)
        contract.writeData(to: &other)
        #expect(String(decoding: one.bytes, as: UTF8.self) == String(decoding: other.bytes, as: UTF8.self))
    }

    @Test("the message for a line that is not JSON is the contract's")
    func parseError() throws {
        let answer = try #require(Responder(MethodTable([])).answer(Array(#"{"a":1,}"#.utf8)))
        let error = try #require(try JSONValue(parsing: answer)["error"])
        let reason = try #require(error["data"]?["reason"]?.string)
        let offset = try #require(error["data"]?["offset"]?.int)
        #expect(error["message"]?.string == Contract.ParseError(reason: reason, offset: offset).message)
    }

    @Test("the message for parameters by position is the contract's")
    func byPosition() throws {
        let methods = MethodTable([Method("echo") { _, _, _ in }])
        let answer = try #require(Responder(methods).answer(Array(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}"#.utf8)))
        let error = try #require(try JSONValue(parsing: answer)["error"])
        let violation = try #require(error["data"]?["violations"]?[0])
        let expected = Violation(
            pointer: violation["pointer"]?.string ?? "?", rule: violation["rule"]?.string ?? "?",
            message: violation["message"]?.string ?? "?")
        #expect(error["message"]?.string == Contract.InvalidParams(violations: [expected]).message)
    }
}
