import Contract
import JSON
import JSONRPC
import Testing

@testable import Mintmark

@Suite("the methods that a process offers")
struct OfferingTests {
    private func call(_ mintmark: Mintmark, _ method: String, _ params: JSONValue = [:]) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        return try JSONValue(parsing: try #require(mintmark.responder.answer(request.bytes)))
    }

    @Test("with public callers, methods for developers are rejected and omitted from rpc.discover")
    func publicCaller() throws {
        let mintmark = Mintmark(Configuration(store: .memory, publicCaller: true))
        #expect(try call(mintmark, "pool.create", ["name": "x"])["error"]?["data"]?["type"] == "callerNotAllowed")
        #expect(try call(mintmark, "token.jwks")["result"]?["keys"] == [])
        let offered = try call(mintmark, "rpc.discover")["result"]?["methods"]?.array?.compactMap { $0["name"]?.string } ?? []
        #expect(offered.contains("token.verify") && !offered.contains("pool.create") && !offered.contains("test.clock"))
    }

    @Test("testing methods exist only in a testing store")
    func testing() throws {
        #expect(try call(Mintmark(Configuration(store: .memory)), "test.clock")["error"]?["code"] == -32601)
        let testing = Mintmark(Configuration(store: .memory, testing: true, clock: 1_700_000_000))
        #expect(try call(testing, "test.clock")["result"] == ["now": 1_700_000_000, "frozen": true])
        #expect(try call(testing, "system.ping")["result"] == ["now": 1_700_000_000])
    }

    @Test("every method has a handler")
    func handlers() throws {
        let services = try Mintmark(Configuration(store: .memory, testing: true)).services()
        #expect(services.bound.compactMap { $0?.info.name }.sorted() == Contract.MethodTable.all.map(\.name).sorted())
    }

    @Test(
        "the errors of the JSON-RPC module match those of the contract",
        arguments: [
            (JSONRPC.ShuttingDown() as any ResponseError, Contract.ShuttingDown.code, Contract.ShuttingDown.type),
            (JSONRPC.ResultTooLarge(limit: 1), Contract.ResultTooLarge.code, Contract.ResultTooLarge.type),
            (JSONRPC.TooManyRequests(), Contract.TooManyRequests.code, Contract.TooManyRequests.type),
            (JSONRPC.InvalidRequest(""), Contract.InvalidRequest.code, Contract.InvalidRequest.type),
            (JSONRPC.MethodNotFound("", nearest: []), Contract.MethodNotFound.code, Contract.MethodNotFound.type),
            (JSONRPC.ParamsNotByName(), Contract.InvalidParams.code, Contract.InvalidParams.type),
            (JSONRPC.InternalError(), Contract.InternalError.code, Contract.InternalError.type),
            (JSONRPC.RequestCancelled(), Contract.RequestCancelled.code, Contract.RequestCancelled.type),
        ])
    func wireErrors(error: any ResponseError, code: Int, type: String) {
        #expect(error.code == code)
        #expect(error.type == type)
    }

    @Test("the version is the version of the contract")
    func version() { #expect(Mintmark.version == OpenRPCDocument.serviceVersion) }
}
