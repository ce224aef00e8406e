import Arguments
import JSON

/// Selects the identity provider for a sign-in without `--provider`.
struct ProviderChoice {
    private let calls: Calls
    private let tenant: String
    private let commandOptions: String

    init(_ calls: Calls, _ tenant: String, commandOptions: String) {
        self.calls = calls
        self.tenant = tenant
        self.commandOptions = commandOptions
    }

    /// Returns the only enabled identity provider of the tenant.
    ///
    /// - Throws: `ValidationError` with the choices if there are several; `ExitCode` after an error message if there are none.
    func only() throws -> String {
        let idps = try calls.result("idp.list", ["tenantId": .string(tenant)])["idps"]?.array ?? []
        let enabled = idps.filter { $0["enabled"]?.bool ?? false }.compactMap { $0["providerId"]?.string }
        if let only = enabled.first, enabled.count == 1 { return only }
        if !enabled.isEmpty { throw ValidationError("Select a provider: --provider \(enabled.joined(separator: ", --provider "))") }
        Printing.err("\(Printing.errorWord) Tenant \(tenant) has no identity provider.")
        Printing.err("  \(Self.howToMakeOne(commandOptions))")
        Printing.err("  Or sign in with an email address: mintmark login\(commandOptions) --email you@example.com")
        throw ExitCode(1)
    }

    static func howToMakeOne(_ commandOptions: String) -> String {
        "Create one: mintmark call\(commandOptions) idp.create providerId=google.com responseType=code clientId=… clientSecret=@FILE"
    }
}
