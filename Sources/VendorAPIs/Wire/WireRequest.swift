import Crypto
import IdentityPools
import Platform

/// An HTTP request in the format of the emulated service.
struct WireRequest: Sendable {
    let method: String
    /// The absolute URL, or the path with the query.
    let url: String
    /// The headers, with lowercase names.
    let headers: [(name: String, value: String)]
    let body: String
    /// The parameters of the query and of a form body.
    let parameters: [(name: String, value: String)]
    /// The address of the client, if it is known.
    let sourceIp: String?

    init(method: String, url: String, headers: [(name: String, value: String)], body: String, sourceIp: String? = nil) {
        self.method = method
        self.url = url
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
        self.body = body
        self.sourceIp = sourceIp
        let type = self.headers.first { $0.name == "content-type" }?.value.lowercased()
        let form = type?.hasPrefix("application/x-www-form-urlencoded") == true ? RequestURL("/?" + body).parameters : []
        parameters = (RequestURL(url).parameters + form).map { (Self.decoded($0.name), Self.decoded($0.value)) }
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Whether the client prefers JSON to XML (RFC 9110 §12.5.1). Without a preference, the format is XML.
    var acceptsJSON: Bool {
        var best: (json: Double, xml: Double) = (0, 0)
        var isJSONFirst = false
        for range in headers.filter({ $0.name == "accept" }).flatMap({ $0.value.lowercased().split(separator: ",") }) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            switch parts.first {
            case "application/json":
                isJSONFirst = isJSONFirst || best.xml == 0
                best.json = max(best.json, weight)
            case "text/xml", "application/xml": best.xml = max(best.xml, weight)
            default: break
            }
        }
        return best.json > best.xml || best.json == best.xml && best.json > 0 && isJSONFirst
    }

    var bodySha256: String { Hex.encode(Hash.sha256(Array(body.utf8))) }

    /// Decodes a form value (`application/x-www-form-urlencoded`): a plus sign is a space.
    private static func decoded(_ text: String) -> String {
        let bytes = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decode(String(decoding: bytes, as: UTF8.self)), as: UTF8.self)
    }
}
