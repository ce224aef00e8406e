import Platform

/// A request as its signer must have written it.
enum CanonicalRequest {
    /// The canonical forms that signers make of one request: with the query as it was sent, and with it decoded and encoded
    /// anew. They differ only for what the sender did not encode, and name the same parameters.
    static func forms(of request: SignedHTTPRequest, payloadHash: String) -> [String] {
        let queries = [query(request.parameters), query(request.parameters.map(encodedAnew))]
        return (queries[0] == queries[1] ? [queries[0]] : queries).map { query in
            ([request.method.uppercased(), path(request), query] + request.signedHeaders.sorted().map { "\($0):\(request.header($0) ?? "")" }
                + ["", request.signedHeaders.sorted().joined(separator: ";"), payloadHash]).joined(separator: "\n")
        }
    }

    /// Every service but S3 takes dot segments and double slashes out and encodes the path once more.
    private static func path(_ request: SignedHTTPRequest) -> String {
        if request.scope.service == "s3" { return request.path.isEmpty ? "/" : request.path }
        return PercentEncoding.encode(withoutDotSegments(request.path), keepingSlashes: true)
    }

    static func withoutDotSegments(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") {
            switch segment {
            case ".": break
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        let tail = path.utf8.last == UInt8(ascii: "/") && !segments.isEmpty ? "/" : ""
        return "/" + segments.joined(separator: "/") + tail
    }

    private static func query(_ parameters: [(name: String, value: String)]) -> String {
        parameters.sorted { a, b in
            a.name.utf8.elementsEqual(b.name.utf8)
                ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8) : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func encodedAnew(_ parameter: (name: String, value: String)) -> (name: String, value: String) {
        (
            PercentEncoding.encode(PercentEncoding.decode(parameter.name), keepingSlashes: false),
            PercentEncoding.encode(PercentEncoding.decode(parameter.value), keepingSlashes: false)
        )
    }

    /// Without space at the ends, with one space for each run of it inside.
    static func trimmed(_ value: String) -> String {
        value.unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }.joined(separator: " ")
    }
}

/// Percent-encoding as RFC 3986 has it: everything but unreserved characters, in upper-case hexadecimal.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func encode(_ text: String, keepingSlashes: Bool) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"):
                encoded.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// What is not a valid escape stays as it is.
    static func decode(_ text: String) -> String {
        var decoded: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)), value.count == 1 {
                decoded.append(value[0])
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
