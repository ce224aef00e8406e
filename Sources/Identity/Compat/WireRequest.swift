import Crypto
import Platform

/// An HTTP request in a vendor's wire format.
struct WireRequest: Sendable {
    let method: String
    /// Absolute, or the path with its query.
    let url: String
    /// Names in lower case.
    let headers: [(name: String, value: String)]
    let body: String
    /// The query's parameters and, in a form, the body's.
    let parameters: [(name: String, value: String)]

    init(method: String, url: String, headers: [(name: String, value: String)], body: String) {
        self.method = method
        self.url = url
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
        self.body = body
        let type = self.headers.first { $0.name == "content-type" }?.value.lowercased()
        let form = type?.hasPrefix("application/x-www-form-urlencoded") == true ? RequestURL("/?" + body).parameters : []
        parameters = (RequestURL(url).parameters + form).map { (Self.decoded($0.name), Self.decoded($0.value)) }
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    var bodySha256: String { Hex.encode(Hash.sha256(Array(body.utf8))) }

    /// As forms write it (application/x-www-form-urlencoded): a plus is a space.
    private static func decoded(_ text: String) -> String {
        let bytes = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decode(String(decoding: bytes, as: UTF8.self)), as: UTF8.self)
    }
}
