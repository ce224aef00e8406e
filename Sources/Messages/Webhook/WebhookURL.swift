/// Checks webhook URLs, so that an error is found when the URL is configured and not when a message is sent.
public enum WebhookURL {
    /// Returns the problem with the URL, or `nil` if it is valid. The result does not quote the URL, since a query may be a secret.
    public static func flaw(in url: String, allowsInsecureLoopback: Bool) -> String? {
        let isPlain = url.hasPrefix("http://")
        guard isPlain || url.hasPrefix("https://") else { return "it does not begin with https://" }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "it contains spaces or non-ASCII characters" }
        let rest = url.dropFirst(isPlain ? 7 : 8)
        let authority = rest.prefix { !"/?#".contains($0) }
        if authority.contains("@") { return "it contains a user name or password, which are not supported because requests are signed" }
        if rest.contains("#") { return "it contains a fragment (#)" }
        let isBracketed = authority.hasPrefix("[")
        let host = isBracketed ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        guard !host.isEmpty, isBracketed ? authority.contains("]") && host.count > 2 : host.utf8.allSatisfy(isHostByte) else {
            return "it contains no host"
        }
        let port = authority.dropFirst(host.count)
        guard port.isEmpty || port.first == ":" && (Int(port.dropFirst()).map { (1...65535).contains($0) } ?? false) else {
            return "its port is not between 1 and 65535"
        }
        guard isPlain else { return nil }
        let isLoopback = ["localhost", "[::1]"].contains(String(host)) || isLoopbackAddress(host)
        return isLoopback && allowsInsecureLoopback ? nil : "plain HTTP is allowed only for loopback addresses"
    }

    private static func isLoopbackAddress(_ host: Substring) -> Bool {
        host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "-._".utf8.contains(byte)
    }
}
