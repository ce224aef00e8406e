import JSON

/// An HTTP answer in a vendor's wire format.
struct WireAnswer: Sendable {
    let status: Int64
    /// Names in lower case.
    var headers: [(name: String, value: String)]
    let body: String

    private static let json = "application/x-amz-json-1.1"

    /// What an operation answers; one that answers nothing has no body.
    static func json(_ object: JSONObject?) -> WireAnswer {
        WireAnswer(status: 200, headers: [("content-type", json)], body: object.map { JSONValue.object($0).text } ?? "")
    }

    static func json(_ error: WireError) -> WireAnswer {
        WireAnswer(
            status: error.status, headers: [("content-type", json), ("x-amzn-errortype", error.code)],
            body: JSONValue.object(["__type": .string(error.code), "message": .string(error.message)]).text)
    }

    /// What a service of the query protocol answers to those who accept JSON.
    static func json(_ object: JSONObject, status: Int64 = 200) -> WireAnswer {
        WireAnswer(status: status, headers: [("content-type", "application/json")], body: JSONValue.object(object).text)
    }

    static func xml(_ root: XMLElement, status: Int64 = 200) -> WireAnswer {
        WireAnswer(status: status, headers: [("content-type", "text/xml")], body: root.text)
    }
}
