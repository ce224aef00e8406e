/// Where a PostgreSQL database is: a connection URI as libpq reads it.
///
/// As text it never shows the password, nor anything else that might be one.
public struct PostgresAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let uri: String
    /// The URI without what could be secret.
    public let description: String

    /// Whether `text` names a PostgreSQL database and not a file.
    public static func isAddress(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// - Parameter uri: `postgres://user@host:port/database?setting=value`; a host may be left out, or given as a setting,
    ///   for a socket in a folder. What is left out, libpq takes from its own variables (PGHOST, PGPASSFILE and so on).
    public init(_ uri: String) {
        self.uri = uri
        description = Self.withoutSecrets(uri)
    }

    public var debugDescription: String { description }

    /// Keeps the names of users, hosts and the database, digits of ports, and where a socket is.
    private static func withoutSecrets(_ uri: String) -> String {
        let rest = uri.drop { $0 != "/" }.dropFirst(2)
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        let place = rest[..<question]
        // A password may hold an @ that should have been encoded: only what follows the last one is surely no part of it.
        let at = place.lastIndex(of: "@")
        let user = at.map { place[..<$0].prefix { $0 != ":" && $0 != "/" && $0 != "@" } + "@" } ?? ""
        let hostsAndDatabase = at.map { place[place.index(after: $0)...] } ?? place
        let slash = hostsAndDatabase.firstIndex(of: "/") ?? hostsAndDatabase.endIndex
        let hosts = hostsAndDatabase[..<slash].split(separator: ",", omittingEmptySubsequences: false).map(withoutOddPort)
        let shown = rest[question...].dropFirst().split(separator: "&").filter { $0.hasPrefix("host=") || $0.hasPrefix("port=") }
        return "postgres://\(user)\(hosts.joined(separator: ","))\(hostsAndDatabase[slash...])"
            + (shown.isEmpty ? "" : "?\(shown.joined(separator: "&"))")
    }

    /// Where someone forgot the host, a password stands in the port's place.
    private static func withoutOddPort(_ host: Substring) -> Substring {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return host[host.index(after: colon)...].allSatisfy { $0.isASCII && $0.isNumber } ? host : host[..<colon]
    }
}
