import JSON
import Testing

@testable import JSONRPC

/// Methods for the tests.
let testMethods = MethodTable([
    Method("echo") { _, params, result in if let params { result.raw(params) } else { result.null() } },
    Method("nothing") { _, _, _ in },
    Method("fail") { _, _, _ in throw TooManyRequests(retryAfterSeconds: 3) },
    Method("crash") { _, _, _ in throw Unexpected() },
    Method("move") { call, _, result in
        guard call.lane == .compute else { return result.string("moved") }
        result.string("forgotten")
        call.proceed(on: .store) { _, _, result in result.string("moved") }
    },
    Method("large") { _, params, result in result.string(String(repeating: "x", count: Int(params?["count"]?.number?.int64 ?? 0))) },
])

struct Unexpected: Error { let secret = "hunter2" }

@Suite("one response per line")
struct ResponderTests {
    private let responder = Responder(testMethods, maximumAnswer: 1000)

    private func answer(_ line: String) -> String? { responder.answer(Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) } }

    @Test(
        "results, IDs and traces are returned exactly as they were written",
        arguments: [
            (
                #"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1.50,"é"]}}"#,
                #"{"jsonrpc":"2.0","id":1,"result":{"a":[1.50,"é"]}}"#
            ),
            (#"{"jsonrpc":"2.0","id":1.0,"method":"nothing"}"#, #"{"jsonrpc":"2.0","id":1.0,"result":null}"#),
            (
                #"{"jsonrpc":"2.0","id":"a\u0062","method":"nothing","trace":"t\n"}"#,
                #"{"jsonrpc":"2.0","id":"a\u0062","trace":"t\n","result":null}"#
            ),
            (
                #"{"jsonrpc":"2.0","id":12345678901234567890e1,"method":"nothing","unknown":1}"#,
                #"{"jsonrpc":"2.0","id":12345678901234567890e1,"result":null}"#
            ),
            (#"{"jsonrpc":"2.0","id":null,"method":"nothing"}"#, #"{"jsonrpc":"2.0","id":null,"result":null}"#),
            (#"{"jsonrpc":"2.0","id":2,"method":"move"}"#, #"{"jsonrpc":"2.0","id":2,"result":"moved"}"#),
        ])
    func results(line: String, expected: String) { #expect(answer(line) == expected) }

    @Test(
        "errors carry their code, type and id",
        arguments: [
            ("{", -32700, "parseError", "null"), (#"{"a":1,"a":2}"#, -32700, "parseError", "null"), ("1", -32600, "invalidRequest", "null"),
            ("[]", -32600, "invalidRequest", "null"),
            (#"{"id":5,"method":"echo"}"#, -32600, "invalidRequest", "5"), (#"{"jsonrpc":"2.0","id":5}"#, -32600, "invalidRequest", "5"),
            (#"{"jsonrpc":"1.0","id":5,"method":"echo"}"#, -32600, "invalidRequest", "5"),
            (#"{"jsonrpc":"2.0","id":{},"method":"echo"}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","id":5,"method":7}"#, -32600, "invalidRequest", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"echo","params":"x"}"#, -32600, "invalidRequest", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"echo","params":[1]}"#, -32602, "invalidParams", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"ehco"}"#, -32601, "methodNotFound", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"$/x"}"#, -32601, "methodNotFound", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"fail"}"#, 1003, "tooManyRequests", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"crash"}"#, -32603, "internalError", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"large","params":{"count":1000}}"#, 1002, "resultTooLarge", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"echo","trace":7}"#, -32600, "invalidRequest", "5"),
            (#"{"jsonrpc":"2.0","id":5,"method":"$/cancelRequest","params":{"id":1}}"#, -32600, "invalidRequest", "5"),
            // Neither a request nor a notification (JSON-RPC 2.0, section 5).
            (#"{"jsonrpc":"2.0","method":5}"#, -32600, "invalidRequest", "null"),
            (#"{"method":"echo"}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","method":"echo","params":5}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","method":"echo","params":true}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","method":"echo","trace":5}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","method":"echo","progressToken":{}}"#, -32600, "invalidRequest", "null"),
            (#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":5}"#, -32600, "invalidRequest", "null"),
        ] as [(String, Int64, String, String)])
    func errors(line: String, code: Int64, type: String, id: String) throws {
        let message = try JSONValue(parsing: try #require(answer(line)))
        #expect(message["error"]?["code"]?.int == code)
        #expect(message["error"]?["data"]?["type"]?.string == type)
        #expect(message["id"]?.text == id)
        #expect(message["error"]?["message"]?.string?.contains("hunter2") == false)
    }

    @Test("an unknown method name yields the nearest name")
    func suggestion() throws {
        let message = try JSONValue(parsing: try #require(answer(#"{"jsonrpc":"2.0","id":5,"method":"ehco"}"#)))
        #expect(message["error"]?["data"]?["nearest"] == ["echo"])
        #expect(message["error"]?["message"]?.string?.contains("echo") == true)
    }

    @Test(
        "notifications get no response",
        arguments: [
            #"{"jsonrpc":"2.0","method":"echo"}"#, #"{"jsonrpc":"2.0","method":"fail"}"#, #"{"jsonrpc":"2.0","method":"no such"}"#,
            #"{"jsonrpc":"2.0","method":"echo","params":[1]}"#, #"{"jsonrpc":"2.0","method":"$/x"}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
            #"[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"fail"}]"#,
        ])
    func notifications(line: String) { #expect(answer(line) == nil) }

    @Test("a batch gets one line with a response for each of its requests")
    func batch() throws {
        let message = try JSONValue(
            parsing: try #require(
                answer(
                    #"[{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":1}},1,{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","id":2,"method":"fail"}]"#
                )))
        #expect(message.array?.count == 3)
        #expect(message[0]?["result"] == ["x": 1])
        #expect(message[1]?["error"]?["code"] == -32600)
        #expect(message[2]?["error"]?["code"] == 1003)
        let tooMany = "[" + Array(repeating: #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, count: 101).joined(separator: ",") + "]"
        #expect(try JSONValue(parsing: try #require(answer(tooMany)))["error"]?["code"] == -32600)
    }
}
