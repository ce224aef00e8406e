import Arguments
import Contract
import Glibc
import Platform

/// The environment variables that correspond to options: `MINTMARK_STORE` for `--store`.
enum Environment {
    /// Returns the variable `MINTMARK_<name>`, or `nil` if it is unset or empty.
    static subscript(_ name: String) -> String? {
        assert(known.contains(name), "\(name) is missing from the known variables, so that it would be refused as a typo")
        return plain("MINTMARK_" + name)
    }

    static func plain(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The known names after `MINTMARK_`.
    private static let known = [
        "ACCESS", "ACCOUNT", "ALLOW", "ALLOW_CORE_DUMPS", "API_VERSION", "APP", "APPLY", "AUDIENCE", "AUDIT_HEADS_FILE", "AUDIT_ISSUANCE",
        "AUDIT_RETENTION_DAYS", "BINARY", "CALLBACK_PATH", "CALLBACK_PORT", "CALLER", "CA_FILE", "CLOCK", "COLOR", "CONSOLE",
        "DB_CONNECTIONS", "DEVELOPER_USER", "DEVICE", "DRAIN", "DURATION", "EMAIL", "ENDPOINT", "FRAMING", "IDENTITY", "IDP_ISSUERS",
        "ISSUER", "LOG_LEVEL", "MAIL_FROM", "MASTER_KEY", "MASTER_KEY_FILE", "MAX_LINE", "MIGRATE", "MIN_VALID", "NO_BROWSER", "PAGER",
        "PARENT", "POOL", "PROVIDER", "PROVIDER_TIMEOUT", "PROXY", "REGION", "ROLE", "SEQUENTIAL", "SESSION_NAME", "SMTP",
        "SMTP_PASSWORD", "SMTP_PASSWORD_FILE", "SMTP_UNENCRYPTED", "SMTP_URL", "SMTP_USER", "STORE", "TENANT", "TESTING", "TOKEN_COMMAND",
        "TOKEN_FILE", "TOOLS", "TRACE_FILE", "USER", "WATCH", "WEBHOOK_SECRET", "WEBHOOK_SECRET_FILE", "WEBHOOK_URL",
    ]

    /// Rejects a variable with a name that is similar to a known one, like a mistyped option. Other unknown variables may belong to other
    /// programs.
    ///
    /// - Throws: `ValidationError`.
    static func refuseTypos() throws {
        var place = environ
        while let entry = place.pointee {
            place += 1
            guard strncmp(entry, "MINTMARK_", 9) == 0 else { continue }
            let name = String(String(cString: entry + 9).prefix { $0 != "=" })
            guard !known.contains(name), let nearest = NearestNames.of(name, among: known).first else { continue }
            throw ValidationError("Unknown variable MINTMARK_\(name). Did you mean MINTMARK_\(nearest)?")
        }
    }

    /// - Throws: `ValidationError` for a value that is not a Boolean.
    static func flag(_ name: String, or given: Bool) throws -> Bool {
        guard !given, let text = Self[name] else { return given }
        switch text.lowercased() {
        case "1", "true", "yes": return true
        case "0", "false", "no": return false
        default: throw ValidationError("MINTMARK_\(name) must be true or false, not '\(text)'.")
        }
    }

    static func integer(_ name: String) throws -> Int64? {
        guard let text = Self[name] else { return nil }
        guard let value = Int64(text) else { throw ValidationError("MINTMARK_\(name) must be a number, not '\(text)'.") }
        return value
    }
}
