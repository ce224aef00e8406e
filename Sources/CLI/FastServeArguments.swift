/// Parses the command line of a simple `mintmark serve`, as used by programs that spawn it. The argument parser would take 6 ms, more than
/// the rest of the start. It still parses all other command lines: help, other commands, and errors.
enum FastServeArguments {
    /// Returns the settings, or `nil` if the argument parser is required.
    static func settings(_ arguments: [String]) -> ServeSettings? {
        var settings = ServeSettings()
        var rest = arguments.first == "serve" ? arguments.dropFirst() : arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--testing": settings.store.testing = true
            case "--audit-issuance": settings.store.auditIssuance = true
            case "--sequential": settings.sequential = true
            case "--allow-core-dumps": settings.allowCoreDumps = true
            case "--smtp-unencrypted": settings.store.delivery.smtpUnencrypted = true
            default:
                guard let value = rest.popFirst(), !value.hasPrefix("-"), set(name, value, &settings) else { return nil }
            }
        }
        return settings
    }

    private static func set(_ name: String, _ value: String, _ settings: inout ServeSettings) -> Bool {
        switch name {
        case "--app": settings.store.app = value
        case "--store": settings.store.store = value
        case "--issuer": settings.store.issuer = value
        case "--region": settings.store.region = value
        case "--account": settings.store.account = value
        case "--master-key-file": settings.store.masterKeyFile = value
        case "--caller": settings.store.caller = value
        case "--apply": settings.apply = value
        case "--framing": settings.framing = value
        case "--trace-file": settings.traceFile = value
        case "--migrate": settings.store.migrate = value
        case "--ca-file": settings.store.caFile = value
        case "--proxy": settings.store.proxy = value
        case "--log-level": settings.store.logLevel = value
        case "--smtp-url": settings.store.delivery.smtpURL = value
        case "--mail-from": settings.store.delivery.mailFrom = value
        case "--smtp-user": settings.store.delivery.smtpUser = value
        case "--smtp-password-file": settings.store.delivery.smtpPasswordFile = value
        case "--webhook-url": settings.store.delivery.webhookURL = value
        case "--webhook-secret-file": settings.store.delivery.webhookSecretFile = value
        case "--audit-heads-file": settings.store.auditHeadsFile = value
        case "--audit-retention-days": return assign(Int(value), &settings.store.auditRetentionDays)
        case "--clock": return assign(Int64(value), &settings.store.clock)
        case "--db-connections": return assign(Int(value), &settings.store.dbConnections)
        case "--drain": return assign(Int(value), &settings.drain)
        case "--max-line": return assign(Int(value), &settings.maxLine)
        case "--parent": return assign(Int32(value), &settings.parent)
        default: return false
        }
        return true
    }

    private static func assign<Value>(_ value: Value?, _ place: inout Value?) -> Bool {
        place = value
        return value != nil
    }
}
