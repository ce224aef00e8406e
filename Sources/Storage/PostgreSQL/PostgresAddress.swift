/// The address of a PostgreSQL database: a connection URI in the format of libpq.
///
/// The description never contains the password, or any part of the URI that could be a password.
public struct PostgresAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let uri: String
    /// The URI without parts that could be secret.
    public let description: String

    /// Returns whether `text` is the URI of a PostgreSQL database, as opposed to a file path.
    public static func isAddress(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// - Parameter uri: `postgres://user@host:port/database?setting=value`. The host can be omitted or given as a setting, for a socket in
    ///   a directory. libpq takes omitted parts from its environment variables (`PGHOST`, `PGPASSFILE` and others).
    public init(_ uri: String) {
        self.uri = uri
        description = Self.withoutSecrets(uri)
    }

    public var debugDescription: String { description }

    /// Keeps user names, host names, the database name, numeric ports and the path of a socket.
    private static func withoutSecrets(_ uri: String) -> String {
        let rest = uri.drop { $0 != "/" }.dropFirst(2)
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        let place = rest[..<question]
        // A password can contain an @ that should have been percent-encoded. Only the text after the last @ is certain not to be part of
        // it.
        let at = place.lastIndex(of: "@")
        let user = at.map { place[..<$0].prefix { $0 != ":" && $0 != "/" && $0 != "@" } + "@" } ?? ""
        let hostsAndDatabase = at.map { place[place.index(after: $0)...] } ?? place
        let slash = hostsAndDatabase.firstIndex(of: "/") ?? hostsAndDatabase.endIndex
        let hosts = hostsAndDatabase[..<slash].split(separator: ",", omittingEmptySubsequences: false).map(withoutOddPort)
        let shown = rest[question...].dropFirst().split(separator: "&").filter { $0.hasPrefix("host=") || $0.hasPrefix("port=") }
        return "postgres://\(user)\(hosts.joined(separator: ","))\(hostsAndDatabase[slash...])"
            + (shown.isEmpty ? "" : "?\(shown.joined(separator: "&"))")
    }

    /// If the host is missing, the password is in the position of the port.
    private static func withoutOddPort(_ host: Substring) -> Substring {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return host[host.index(after: colon)...].allSatisfy { $0.isASCII && $0.isNumber } ? host : host[..<colon]
    }
}
