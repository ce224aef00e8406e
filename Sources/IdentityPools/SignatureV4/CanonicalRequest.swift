import Platform

/// The canonical request that the signer must have signed.
enum CanonicalRequest {
    /// Returns the canonical forms that signers can produce for one request.
    ///
    /// The query is used as sent, and also decoded and encoded again. The two forms differ only in characters that the sender did not
    /// encode, and contain the same parameters. If the query contains the session token, each form is also returned without it, because
    /// some services require adding it to a signed URL.
    static func forms(of request: SignedHTTPRequest, payloadHash: String) -> [String] {
        let withToken = queries(request.parameters)
        let withoutToken = request.tokenIsInQuery ? queries(request.parameters.filter { $0.name != "X-Amz-Security-Token" }) : []
        let tail =
            request.signedHeaders.sorted().map { "\($0):\(request.header($0) ?? "")" }
            + ["", request.signedHeaders.sorted().joined(separator: ";"), payloadHash]
        let head = [request.method.uppercased(), path(request)]
        return (withToken + withoutToken).map { query in (head + [query] + tail).joined(separator: "\n") }
    }

    /// Returns the canonical path. Services other than S3 remove dot segments and repeated slashes, and encode the path twice.
    private static func path(_ request: SignedHTTPRequest) -> String {
        if request.scope.isS3 { return request.path.isEmpty ? "/" : request.path }
        return PercentEncoding.encode(withoutDotSegments(request.path), keepingSlashes: true)
    }

    /// Removes dot segments (RFC 3986 §5.2.4) and merges consecutive slashes.
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

    /// Sorts parameters by name, then by value, comparing bytes.
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

    /// Removes surrounding whitespace and replaces each inner run by one space. Whitespace is defined as in Python signers: Unicode
    /// whitespace and the four ASCII separators.
    static func trimmed(_ value: String) -> String {
        value.unicodeScalars.split { $0.properties.isWhitespace || 0x1C...0x1F ~= $0.value }.map { String($0) }.joined(separator: " ")
    }
}
