import Arguments
import Glibc

/// The options that select the credentials.
struct CredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The role to assume: its ARN, or the name of a role of the store. Without it, --pool issues the credentials.",
            valueName: "role"))
    var role: String?

    @Option(help: ArgumentHelp("The name of the role session. (default: the name of the user and of the machine)", valueName: "name"))
    var sessionName: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The lifetime of the credentials, 900 to 43200. (default: that of the role)", valueName: "seconds"))
    var duration: Int64?

    @Option(
        help: ArgumentHelp(
            "The AWS STS that issues the credentials in place of the store, such as https://sts.eu-west-1.amazonaws.com. "
                + "http is allowed on this machine only.", valueName: "url"))
    var endpoint: String?

    @OptionGroup(title: "Token") var source: TokenOptions

    /// - Throws: `ValidationError`.
    func request() throws -> CredentialRequest {
        let source = try source.source()
        guard let role = role ?? Environment["ROLE"] else {
            guard let pool = self.source.poolId else {
                throw ValidationError("No role is given. Add --role, or --pool for credentials of a pool.")
            }
            for (name, value) in [("--session-name", sessionName), ("--duration", duration.map { "\($0)" }), ("--endpoint", endpoint)]
            where value != nil { throw ValidationError("\(name) requires --role.") }
            return CredentialRequest(source: source, target: .pool(pool))
        }
        let endpoint = try OptionValue(endpoint, "--endpoint", "ENDPOINT").map { try STSEndpoint($0.value, from: $0.source) }
        if endpoint != nil, !role.hasPrefix("arn:") {
            let source = OptionValue.source("--role", isGiven: self.role != nil)
            throw ValidationError("\(source) must be an ARN with --endpoint, such as arn:aws:iam::123456789012:role/deploy.")
        }
        let name = sessionName ?? Environment["SESSION_NAME"] ?? Self.ownName
        guard 2...64 ~= name.utf8.count, name.utf8.allSatisfy(Self.isAllowed) else {
            let source = OptionValue.source("--session-name", isGiven: sessionName != nil)
            throw ValidationError("\(source) must have 2 to 64 letters, digits and the characters _ + = , . @ -, not '\(name)'.")
        }
        let seconds = try duration ?? Environment.integer("DURATION")
        if let seconds, !(900...43_200 ~= seconds) {
            throw ValidationError("\(OptionValue.source("--duration", isGiven: duration != nil)) must be between 900 and 43200 seconds.")
        }
        return CredentialRequest(
            source: source, target: .role(role, .init(sessionName: name, seconds: seconds, endpoint: endpoint)))
    }

    /// The options as arguments of another call of this program.
    func arguments() throws -> [String] {
        _ = try request()
        let named: [(String, String?)] = [
            ("--role", role ?? Environment["ROLE"]), ("--session-name", sessionName ?? Environment["SESSION_NAME"]),
            ("--duration", try (duration ?? Environment.integer("DURATION")).map { "\($0)" }),
            ("--endpoint", endpoint ?? Environment["ENDPOINT"]),
        ]
        return try named.flatMap { name, value in value.map { [name, $0] } ?? [] } + source.arguments()
    }

    /// `user@host`, with `-` in place of characters that are not allowed.
    private static var ownName: String {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
        let text = "\(user)@\(String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
        return String(decoding: text.utf8.prefix(64).map { isAllowed($0) ? $0 : 0x2D }, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x30...0x39) ~= byte || (0x41...0x5A) ~= byte || (0x61...0x7A) ~= byte || "_+=,.@-".utf8.contains(byte)
    }
}
