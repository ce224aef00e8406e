import Platform
import ServiceContext
import Storage

/// Thrown if the value of a setting is not valid.
public struct SettingRefused: Error {
    /// The option of the setting, such as `--issuer`, or `nil` if the message does not begin with it.
    public let option: String?
    /// The message after the name of the setting.
    private let problem: String

    init(_ option: String?, _ problem: String) { (self.option, self.problem) = (option, problem) }

    /// A message with the valid values.
    public var reason: String { reason(naming: option) }

    /// Returns the message for a value from another source than the option, such as an environment variable.
    public func reason(naming source: String?) -> String { source.map { "\($0) \(problem)" } ?? problem }
}

extension Deployment {
    /// Creates a realm from the host's settings; `nil` selects the default of a setting.
    ///
    /// - Throws: `SettingRefused` if a setting is not valid. With `testing`, the issuer must have a reserved host, so that its tokens are
    ///   not accepted elsewhere.
    public init(issuer given: String?, region: String?, account: String?, testing: Bool) throws(SettingRefused) {
        let issuer = given ?? (testing ? "https://testing.mintmark.localhost" : "https://mintmark.localhost")
        guard let host = Self.host(of: issuer) else {
            throw SettingRefused(
                "--issuer", "must be an https URL without query, such as https://id.example.com, not '\(issuer)'.")
        }
        let isReserved =
            ["localhost", "test", "example"].contains { host == $0 || host.hasSuffix(".\($0)") } || ["127.0.0.1", "[::1]"].contains(host)
        if testing, !isReserved {
            throw SettingRefused(
                "--issuer",
                "must have a loopback address as its host, or a host that ends in .test, .example or .localhost, because --testing is set. "
                    + "The tokens are then not accepted elsewhere.")
        }
        let region = region ?? "local-1"
        guard (1...18).contains(region.utf8.count),
            region.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D })
        else {
            throw SettingRefused("--region", "can have up to 18 lowercase letters, digits and hyphens, such as eu-west-1.")
        }
        let account = account ?? "000000000000"
        guard account.utf8.count == 12, account.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw SettingRefused("--account", "must have 12 digits.")
        }
        self.init(issuer: issuer, region: region, account: account)
    }

    /// Returns the host of an https URL (or of a loopback http URL) without query and fragment, or `nil` for any other text.
    private static func host(of text: String) -> String? {
        guard text.utf8.count <= 512, let url = try? HTTPURL(text), url.query == nil, url.fragment == nil, url.userInformation == nil,
            AddressPolicy(allowsInsecureLoopback: true).admitsScheme(of: url)
        else { return nil }
        return url.host
    }
}

extension Configuration.Store {
    /// Parses the location of a store: a file path, `:memory:` or a PostgreSQL address.
    ///
    /// - Throws: `SettingRefused` if the location is not valid.
    public init(named store: String) throws(SettingRefused) {
        if store == ":memory:" {
            self = .memory
        } else if store.hasPrefix(":"), store.hasSuffix(":") {
            throw SettingRefused("--store", "'\(store)' is not a store. Did you mean :memory:? For a file with this name, use ./\(store).")
        } else if store.isEmpty {
            throw SettingRefused("--store", "is empty. Use the path of a file, or :memory:.")
        } else if PostgresAddress.isAddress(store) {
            self = .postgres(PostgresAddress(store))
        } else if let scheme = Self.scheme(of: store) {
            // The rest can contain a password, so the message quotes it only if it looks like the name of a file.
            let name = store.includes("://") || store.includes("@") || scheme.hasPrefix("postgres") ? "\(scheme):…" : store
            throw SettingRefused(
                "--store",
                "must be the path of a file, :memory: or a URL such as postgresql://user@host/database, and \(scheme): is none of them. "
                    + "For a file with this name, use ./\(name).")
        } else {
            self = .file(store)
        }
    }

    /// Returns the scheme of a text that has the form of a URI (RFC 3986, section 3.1), or `nil` for other texts.
    private static func scheme(of text: String) -> Substring? {
        guard let colon = text.utf8.firstIndex(of: 0x3A), let first = text.utf8.first else { return nil }
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        let scheme = text.utf8[..<colon]
        let isScheme = scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) }
        return isLetter(first) && isScheme ? text[..<colon] : nil
    }

    /// Creates the location of the store of an application in the user's data directory.
    ///
    /// - Parameters:
    ///   - dataHome: The value of `XDG_DATA_HOME`.
    ///   - home: The value of `HOME`.
    /// - Throws: `SettingRefused` if the name is not valid or no directory is known.
    public init(ofApp app: String, dataHome: String?, home: String?) throws(SettingRefused) {
        let isName = app.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
        }
        guard isName, !app.isEmpty, !app.hasPrefix("."), app.utf8.count <= 64 else {
            throw SettingRefused(
                "--app", "can have up to 64 letters, digits, dots, hyphens and underscores, and must not begin with a dot.")
        }
        if let dataHome, dataHome.hasPrefix("/") {
            self = .file("\(dataHome)/mintmark/\(app).db")
        } else if let home, home.hasPrefix("/") {
            self = .file("\(home)/.local/share/mintmark/\(app).db")
        } else {
            throw SettingRefused(nil, "HOME is not set, so there is no data directory. Set --store.")
        }
    }
}
