import Contract
import JSON
import Testing

@testable import Console

struct FormTests {
    private func params(_ method: String, _ fields: [(String, String)]) throws -> JSONValue {
        let info = try #require(MethodTable.all.first { $0.name == method })
        let form = Fields(fields.map { (name: $0.0, value: $0.1) })
        return .object(FormParams(schema: FormSchema(info)).params(form))
    }

    @Test("fields become parameters by their paths and types")
    func types() throws {
        let found = try params(
            "tenant.create",
            [
                ("tenantId", "shop"), ("passwordPolicy[minimumLength]", "12"), ("signUpAllowed", "true"), ("audiences[]", "a"),
                ("audiences[]", "b"), ("name", ""), ("_token", "secret"), ("codes[length]", "many"),
            ])
        #expect(
            found == [
                "tenantId": "shop", "passwordPolicy": ["minimumLength": 12], "signUpAllowed": true, "audiences": ["a", "b"],
                "codes": ["length": "many"],
            ])
    }

    @Test("a map takes everything in the brackets as the name")
    func maps() throws {
        let found = try params("token.mint", [("logins[login.shop]", "alice"), ("_key:logins:0", "b"), ("_value:logins:0", "bob")])
        #expect(found == ["logins": ["login.shop": "alice", "b": "bob"]])
    }

    @Test("a box that is checked by default and was unchecked is false")
    func boxes() throws {
        #expect(try params("tenant.create", [("_box", "signUpAllowed")]) == ["signUpAllowed": false])
        #expect(try params("tenant.create", [("_box", "signUpAllowed"), ("signUpAllowed", "true")]) == ["signUpAllowed": true])
    }

    @Test("the fields take precedence over the JSON object")
    func json() throws {
        #expect(try params("pool.create", [("_json", #"{"name":"a","x":1}"#), ("name", "b")]) == ["name": "b", "x": 1])
    }

    @Test("interpolated text is escaped")
    func escaping() {
        let name = #"<img src=x onerror="alert('1')">&"#
        #expect(("<b>\(name)</b>" as HTML).text == "<b>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</b>")
    }
}

struct MultipartTests {
    private static let body = Array(
        ("preamble\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
            + "line 1\r\n-\r\n--c\r\nend\r\n--b\r\nContent-Disposition: form-data; name=\"e\"\r\n\r\n\r\n--b--\r\n").utf8)

    @Test("parts are found wherever the input is cut", arguments: [1, 2, 3, 7, 50, 1000])
    func cuts(size: Int) throws {
        var reader = try #require(MultipartReader(contentType: "multipart/form-data; boundary=b"))
        var (fields, file): ([String], [UInt8]) = ([], [])
        for start in stride(from: 0, to: Self.body.count, by: size) {
            let events = reader.take(Array(Self.body[start..<min(start + size, Self.body.count)]))
            for event in try #require(events) {
                switch event {
                case .field(let name, let value): fields.append("\(name)=\(value)")
                case .file(let bytes): file += bytes
                }
            }
        }
        #expect(fields == ["a=1", "e="])
        #expect(String(decoding: file, as: UTF8.self) == "line 1\r\n-\r\n--c\r\nend")
        #expect(reader.isComplete)
    }

    @Test("other content is refused")
    func otherContent() {
        #expect(MultipartReader(contentType: "application/json") == nil)
        #expect(MultipartReader(contentType: "multipart/form-data") == nil)
    }
}

struct RequestLogTests {
    private func record(_ direction: String, _ at: Double, _ message: String) -> [UInt8] {
        Array(#"{"at":\#(at),"process":1,"direction":"\#(direction)","message":\#(message)}"#.utf8)
    }

    @Test("a response ends its request")
    func pairs() throws {
        let log = RequestLog()
        log.take(record("in", 100, #"{"id":1,"method":"a.b","trace":"t","params":{"x":"***"}}"#))
        log.take(record("in", 100.1, #"[{"id":2,"method":"a.c"},{"method":"notification"}]"#))
        log.take(record("out", 100.5, #"{"id":2,"error":{"data":{"type":"bad"}}}"#))
        #expect(log.all.map(\.method) == ["a.c", "a.b"])
        let done = try #require(log[2])
        #expect(done.error == "bad" && done.matches(method: "a", error: "any") && !done.matches(method: "a.b", error: nil))
        #expect(log[1]?.isDone == false)
        #expect(log[3] == nil && log[0] == nil)
        #expect(log.measurements.methods["a.c"]?.errors == 1)
    }

    @Test("the log keeps the latest thousand requests")
    func bounds() {
        let log = RequestLog()
        for number in 1...1100 { log.take(record("in", 1, #"{"id":\#(number),"method":"a.b"}"#)) }
        #expect(log.all.count == 1000)
        #expect(log.all.first?.number == 1100)
        #expect(log[100] == nil)
    }

    @Test("a percentile is an upper bound of its class")
    func percentiles() {
        var bucket = Measurements.Bucket()
        for milliseconds in 1...100 {
            var request = LoggedRequest(number: 1, at: 0, method: "a", trace: nil, params: "")
            request.seconds = Double(milliseconds) / 1000
            bucket.add(request)
        }
        for (part, value) in [(0.5, 50_000.0), (0.95, 95_000.0)] {
            #expect(bucket.percentile(part) >= value && bucket.percentile(part) < value * 1.5)
        }
    }
}
