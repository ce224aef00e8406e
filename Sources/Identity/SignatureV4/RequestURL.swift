/// A request's URL taken apart without changing a character of it.
struct RequestURL {
    /// The host header that a client derives from the URL, nil if it has no authority.
    let host: String?
    let path: String
    /// Names and values as they were written.
    let parameters: [(name: String, value: String)]

    init(_ url: String) {
        var rest = Substring(url.prefix { $0 != "#" })
        var scheme: Substring?
        if let mark = rest.range(of: "://") {
            scheme = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            host = Self.host(rest[..<end], scheme: scheme!.lowercased())
            rest = rest[end...]
        } else {
            host = nil
        }
        let mark = rest.firstIndex(of: "?")
        path = String(rest[..<(mark ?? rest.endIndex)])
        guard let mark else {
            parameters = []
            return
        }
        parameters = rest[rest.index(after: mark)...].split(separator: "&").map { pair in
            let equals = pair.firstIndex(of: "=")
            return (String(pair[..<(equals ?? pair.endIndex)]), equals.map { String(pair[pair.index(after: $0)...]) } ?? "")
        }
    }

    /// Without user information and without the scheme's own port.
    private static func host(_ authority: Substring, scheme: String) -> String {
        var host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let port = scheme == "https" ? ":443" : ":80"
        if host.hasSuffix(port) { host = host.dropLast(port.count) }
        return String(host)
    }
}

extension Substring {
    /// The first place where `text` stands.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
