import Arguments
import JSON

/// Guides the user at a terminal through a sign-in and returns the response with the tokens. Text for the user goes to standard error.
struct SignInSteps {
    let calls: Calls
    let tenant: String

    /// Signs in on the provider's page in the browser of this machine.
    func inBrowser(_ provider: String, listen: JSONObject, opensBrowser: Bool) throws -> JSONValue {
        let flow = try calls.result(
            "idp.authorize", ["tenantId": .string(tenant), "providerId": .string(provider), "listen": .object(listen)])
        let url = flow["authorizationUrl"]?.string ?? ""
        Printing.err("Sign in to \(provider) in your browser:\n\n  \(url)\n")
        if opensBrowser, let problem = Browser.open(url) { Printing.err("No browser was opened: \(problem) Open the URL above.") }
        return try finish(with: flow)
    }

    /// Signs in on the provider's page on another device.
    func onDevice(_ provider: String) throws -> JSONValue {
        let flow = try calls.result("idp.authorizeDevice", ["tenantId": .string(tenant), "providerId": .string(provider)])
        let (page, code) = (flow["verificationUri"]?.string ?? "", flow["userCode"]?.string ?? "")
        Printing.err("On any device open \(Printing.bold(page, on: .error)) and type \(Printing.bold(code, on: .error)) there.")
        if let whole = flow["verificationUriComplete"]?.string { Printing.err("Or open \(whole)") }
        return try finish(with: flow)
    }

    /// Signs in with an email address and its password or an emailed code.
    func withAddress(_ address: String) throws -> JSONValue {
        var step: JSONValue
        do { step = try calls.ask("signIn.start", ["tenantId": .string(tenant), "username": .string(address)]) } catch let refused
            as Calls.Refused
        {
            guard ["accountNotFound", "userNotFound"].contains(refused.type) else { throw refused.failure() }
            Printing.err(
                "\(Printing.errorWord) \(refused.type): No account has the address \(address). "
                    + "To create one, run: mintmark signup --email \(address)"
            )
            throw ExitCode(1)
        }
        while true {
            switch step["state"]?.string {
            case "passwordRequired":
                step = try asking("Password of \(address): ", isHidden: true) { password in
                    try calls.ask("signIn.submitPassword", ["continuationToken": token(of: step), "password": .string(password)])
                }
            case "codeRequired":
                step = try asking("Code sent to \(step["sentTo"]?.string ?? address): ") { code in
                    try calls.ask("signIn.submitCode", ["continuationToken": token(of: step), "code": .string(code)])
                }
            default: return try finished(step)
            }
        }
    }

    private func finish(with flow: JSONValue) throws -> JSONValue {
        try finished(
            calls.result(
                "signIn.withCredential", ["tenantId": .string(tenant), "credential": ["continuationToken": token(of: flow)]]))
    }

    /// Completes the steps after the first factor.
    func finished(_ step: JSONValue) throws -> JSONValue {
        func refuse(_ reason: String) -> any Error {
            Printing.err("\(Printing.errorWord) \(reason)")
            return ExitCode(1)
        }
        switch step["state"]?.string {
        case "completed": return step
        case "secondFactorRequired": return try finished(secondFactor(step))
        case "secondFactorEnrollmentRequired":
            guard step["factorKinds"]?.array?.contains("totp") ?? true else {
                throw refuse(
                    "Tenant \(tenant) requires a second factor, and this account has none. Enroll one in the app first (mfa.enroll).")
            }
            return try finished(enrolled(["continuationToken": token(of: step)]))
        case "providerRequired":
            let providers = step["providers"]?.array?.compactMap(\.string) ?? []
            let way = providers.isEmpty ? "--email \(step["email"]?.string ?? "<address>")" : "--provider \(providers[0])"
            throw refuse("An account with this email address exists and uses another sign-in method. Use \(way).")
        default:
            throw refuse("The next state of this sign-in is \(step["state"]?.string ?? "missing"), which this program does not support.")
        }
    }

    private func secondFactor(_ step: JSONValue) throws -> JSONValue {
        let hints = step["hints"]?.array ?? []
        let chosen = hints.first { $0["kind"]?.string != "recovery" } ?? hints.first ?? [:]
        let (kind, factor) = (chosen["kind"]?.string ?? "", chosen["factorId"] ?? .null)
        var (step, words) = (step, "Code of your authenticator app")
        switch kind {
        case "email", "sms":
            step = try calls.result("mfa.challenge", ["continuationToken": token(of: step), "factorId": factor])
            words = "Second code, sent to \(step["sentTo"]?.string ?? chosen["sentTo"]?.string ?? "you")"
        case "recovery": words = "Recovery code"
        default: break
        }
        return try asking("\(words): ") { code in
            try calls.ask("mfa.resolve", ["continuationToken": token(of: step), "factorId": factor, "code": .string(code)])
        }
    }

    func token(of step: JSONValue) -> JSONValue { step["continuationToken"] ?? .null }

    /// Repeats the prompt until the input is accepted. Incorrect input does not change the state of the flow.
    func asking(_ words: String, isHidden: Bool = false, _ submit: (String) throws -> JSONValue) throws -> JSONValue {
        while true {
            guard let typed = Terminal.ask(words, isHidden: isHidden) else {
                Printing.err("\(Printing.errorWord) Nothing was typed.")
                throw ExitCode(1)
            }
            do { return try submit(typed) } catch is SignUpSteps.Different {
                Printing.err("The two passwords differ.")
            } catch let refused as Calls.Refused {
                guard ["invalidCode", "invalidPassword", "passwordNotAllowed", "factorCodeInvalid", "invalidParams"].contains(refused.type)
                else {
                    throw refused.failure()
                }
                Printing.err(refused.message)
            }
        }
    }
}
