import JSON

/// An HTTP response in the format of the emulated service.
struct WireAnswer: Sendable {
    let status: Int64
    /// The headers, with lowercase names.
    var headers: [(name: String, value: String)]
    let body: String

    private static let json = "application/x-amz-json-1.1"

    /// Returns the response of a JSON operation. An operation without a result has no body.
    static func json(_ object: JSONObject?) -> WireAnswer {
        WireAnswer(status: 200, headers: [("content-type", json)], body: object.map { JSONValue.object($0).text } ?? "")
    }

    static func json(_ error: WireError) -> WireAnswer {
        WireAnswer(
            status: error.status, headers: [("content-type", json), ("x-amzn-errortype", error.code)],
            body: JSONValue.object(["__type": .string(error.code), "message": .string(error.message)]).text)
    }

    /// Returns the JSON response of a Query operation.
    static func json(_ object: JSONObject, status: Int64 = 200) -> WireAnswer {
        WireAnswer(status: status, headers: [("content-type", "application/json")], body: JSONValue.object(object).text)
    }

    static func xml(_ root: XMLElement, status: Int64 = 200) -> WireAnswer {
        WireAnswer(status: status, headers: [("content-type", "text/xml")], body: root.text)
    }
}
