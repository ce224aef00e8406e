import Platform

/// A request as its signer must have written it.
enum CanonicalRequest {
    /// The canonical forms that signers make of one request.
    ///
    /// With the query as it was sent, and with it decoded and encoded anew: they differ only for what the sender did not encode, and name the
    /// same parameters. If the session token stands in the query, each also without it, because some services want it appended to a URL
    /// that is already signed.
    static func forms(of request: SignedHTTPRequest, payloadHash: String) -> [String] {
        let withToken = queries(request.parameters)
        let withoutToken = request.tokenIsInQuery ? queries(request.parameters.filter { $0.name != "X-Amz-Security-Token" }) : []
        let tail =
            request.signedHeaders.sorted().map { "\($0):\(request.header($0) ?? "")" }
            + ["", request.signedHeaders.sorted().joined(separator: ";"), payloadHash]
        let head = [request.method.uppercased(), path(request)]
        return (withToken + withoutToken).map { query in (head + [query] + tail).joined(separator: "\n") }
    }

    /// Every service but S3 takes dot segments and double slashes out and encodes the path once more.
    private static func path(_ request: SignedHTTPRequest) -> String {
        if request.scope.isS3 { return request.path.isEmpty ? "/" : request.path }
        return PercentEncoding.encode(withoutDotSegments(request.path), keepingSlashes: true)
    }

    /// RFC 3986 section 5.2.4, and consecutive slashes become one.
    static func withoutDotSegments(_ path: String) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let bytes = Array(path.utf8)
        var segments: [ArraySlice<UInt8>] = []
        for segment in bytes.split(separator: slash) {
            if segment.elementsEqual(".".utf8) { continue }
            if segment.elementsEqual("..".utf8) {
                _ = segments.popLast()
            } else {
                segments.append(segment)
            }
        }
        let tail = bytes.last == slash && !segments.isEmpty ? [slash] : []
        return [slash] + segments.joined(separator: [slash]) + tail
    }

    private static func queries(_ parameters: [(name: String, value: String)]) -> [String] {
        let asSent = query(parameters)
        let anew = query(parameters.filter { !($0.name.isEmpty && $0.value.isEmpty) }.map(encodedAnew))
        return asSent == anew ? [asSent] : [asSent, anew]
    }

    /// Sorted by name, then by value, byte by byte.
    private static func query(_ parameters: [(name: String, value: String)]) -> String {
        parameters.sorted { a, b in
            a.name.hasBytes(of: b.name)
                ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8) : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func encodedAnew(_ parameter: (name: String, value: String)) -> (name: String, value: String) {
        (
            PercentEncoding.encode(PercentEncoding.decode(parameter.name)),
            PercentEncoding.encode(PercentEncoding.decode(parameter.value))
        )
    }

    /// Without space at the ends, with one space for each run of it inside. Space is what signers in Python take for it: that of
    /// Unicode, and the four separators of ASCII.
    static func trimmed(_ value: String) -> String {
        value.unicodeScalars.split { $0.properties.isWhitespace || 0x1C...0x1F ~= $0.value }.map { String($0) }.joined(separator: " ")
    }
}
