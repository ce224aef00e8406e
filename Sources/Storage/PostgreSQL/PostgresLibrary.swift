import CPostgres
import Glibc

/// Loads libpq when the first PostgreSQL store is opened.
enum PostgresLibrary {
    /// - Throws: `StoreError.cannotOpen` if libpq is not installed.
    static func load(for address: PostgresAddress) throws(StoreError) {
        guard let reason = pq_load() else { return }
        throw .cannotOpen(
            path: address.description,
            reason: "the PostgreSQL client library is required (Debian package libpq5): \(String(cString: reason))")
    }

    /// Returns a setting that the URI itself contains, or `nil`. The library must be loaded.
    ///
    /// - Throws: `StoreError.cannotOpen` if libpq cannot parse the URI.
    static func setting(_ keyword: String, of address: PostgresAddress) throws(StoreError) -> String? {
        var isValid = false
        let value = pq_uri_setting(address.uri, keyword, &isValid)
        defer { free(value) }
        guard isValid else {
            throw .cannotOpen(
                path: address.description,
                reason:
                    "it is not a valid PostgreSQL URI; in user names and passwords, characters such as / @ : ? # % must be percent-encoded")
        }
        return value.map { String(cString: $0) }
    }

    /// Returns whether the address names several hosts. Only a host that accepts writes is then used.
    static func hasSeveralHosts(_ address: PostgresAddress) throws(StoreError) -> Bool {
        for keyword in ["host", "hostaddr"] {
            if let value = try setting(keyword, of: address), value.contains(",") { return true }
        }
        return false
    }

    /// Returns whether every port in the address is a number.
    static func hasNumericPorts(_ address: PostgresAddress) throws(StoreError) -> Bool {
        (try setting("port", of: address) ?? "").allSatisfy { $0.isASCII && ($0.isNumber || $0 == ",") }
    }
}
