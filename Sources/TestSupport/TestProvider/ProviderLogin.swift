import Accounts
import Contract
import Loopback
import ServiceContext

extension TestProvider {
    /// The maximum number of users that a page suggests.
    private static let mostPeople = 8

    /// Returns the users that the page of a passwordless issuer suggests.
    func people(of issuer: ProviderIssuer) throws -> [String] {
        guard issuer.settings.passwordless else { return [] }
        return try context.database.read { tx in
            try tx.accounts(of: issuer.tenant.id, after: "", limit: 100).filter { !$0.isDisabled }.compactMap(\.username)
        }.prefix(Self.mostPeople).sorted()
    }

    /// Processes a form of the login page. The rules are those of the `signIn.*` and `mfa.*` methods; their errors are shown on the page.
    func logIn(to issuer: ProviderIssuer, _ errand: LoginPurpose, _ form: ProviderParameters) throws -> LoopbackResponse {
        var view = LoginView(form)
        do {
            switch try step(of: issuer, &view, form) {
            case .signedIn(let session): return try welcome(session, to: issuer, errand)
            case .next(let next): return LoginPage(issuer, errand, next, people: []).response
            }
        } catch let error as any ContractError {
            let isOver = error is ContinuationTokenExpired || error is ContinuationTokenInvalid
            if case .factors = view { view = .address(form["email"] ?? "") }
            if isOver { view = .address(form["email"] ?? "") }
            return LoginPage(
                issuer, errand, view, people: try people(of: issuer), problem: Self.words(for: error, issuer)
            ).response
        }
    }

    private enum Outcome {
        case signedIn(NewSession)
        case next(LoginView)
    }

    private func step(of issuer: ProviderIssuer, _ view: inout LoginView, _ form: ProviderParameters) throws -> Outcome {
        let (signIn, mfa) = (SignInService(context, configurations), MfaService(context, configurations))
        let (call, tenant, password) = (InProcessCall(), issuer.tenant, form["password"])
        switch view {
        case .address(let email):
            if let made = try make(email, password, at: issuer) { return .signedIn(made) }
            if issuer.settings.passwordless {
                let name = try Username(email)
                guard let account = try context.database.read({ try $0.account(named: name.folded, in: tenant.id) }) else {
                    throw UserNotFound(in: tenant)
                }
                return .signedIn(try beginSession(of: account.id, tenant, .address))
            }
            if let password {
                do {
                    return try next(
                        try signIn.withPassword(.init(tenantId: tenant.id, username: email, password: password), call), email, issuer)
                } catch is PasswordNotSet {}
            }
            return try next(try signIn.start(.init(tenantId: tenant.id, username: email), call), email, issuer)
        case .password(let email, let token):
            return try next(
                try signIn.submitPassword(.init(continuationToken: token, password: password ?? ""), call), email, issuer)
        case .code(let email, let token, _):
            return try next(try signIn.submitCode(.init(continuationToken: token, code: form["code"] ?? ""), call), email, issuer)
        case .factors(let email, let token, _):
            return try challenge(form["factor"] ?? "", continuing: token, of: email)
        case .factorCode(let email, let token, let factor, _):
            return try next(
                try mfa.resolve(.init(continuationToken: token, factorId: factor, proof: .code(form["code"] ?? "")), call), email, issuer)
        }
    }

    /// Returns the outcome that belongs to a sign-in step.
    private func next(_ step: SignInStep, _ email: String, _ issuer: ProviderIssuer) throws -> Outcome {
        switch step {
        case .completed(let step): return .signedIn(try session(of: step))
        case .codeRequired(let step): return .next(.code(email, step.continuationToken, sentTo: step.sentTo ?? email))
        case .passwordRequired(let step): return .next(.password(email, step.continuationToken))
        case .secondFactorRequired(let step):
            // The pages have no scripts, which passkeys need.
            let (hints, token) = (step.hints.filter { $0.kind != .passkey }, step.continuationToken)
            guard let first = hints.first else {
                throw OAuthRefusal("access_denied", "The account has no usable second factor.")
            }
            if hints.contains(where: { $0.kind != .recovery && $0.factorId != first.factorId }) {
                return .next(.factors(email, token, hints))
            }
            return try challenge(first.factorId, continuing: token, of: email)
        case .passkeyRequired: throw OAuthRefusal("access_denied", "The pages of the test provider cannot use passkeys.")
        case .secondFactorEnrollmentRequired:
            throw OAuthRefusal(
                "access_denied",
                "The tenant \(issuer.tenant.id) requires a second factor, and this account has none. Enroll one with mfa.enroll.")
        case .tokensDeferred, .redirectRequired:
            throw OAuthRefusal("server_error", "The sign-in ended in a state that the test provider did not ask for.")
        case .providerRequired(let step):
            throw OAuthRefusal(
                "access_denied",
                "This account signs in with \(step.providers.joined(separator: ", ")), not with the test provider.")
        }
    }

    /// Sends the code of a second factor, or asks for the code of an app.
    private func challenge(_ factor: String, continuing token: String, of email: String) throws -> Outcome {
        if factor == VerifiedFactor.recovery.factorId { return .next(.factorCode(email, token, factor: factor, sentTo: nil)) }
        let request = MfaChallenge.Params(continuationToken: token, factorId: factor)
        guard case .codeRequired(let step) = try MfaService(context, configurations).challenge(request, InProcessCall()) else {
            throw ContinuationTokenInvalid()
        }
        return .next(.factorCode(email, step.continuationToken, factor: factor, sentTo: step.sentTo))
    }

    /// Returns the session of a completed sign-in.
    private func session(of step: SignInStep.Completed) throws -> NewSession {
        let mac = SignInCompletion(context, configurations).mac(ofRefreshToken: step.refreshToken)
        let found = try context.database.read { tx -> SessionRecord? in
            guard let token = try tx.refreshToken(mac) else { return nil }
            return try tx.session(token.sessionId)
        }
        guard let found else { throw OAuthRefusal("access_denied", "The session was ended.") }
        return NewSession(
            id: found.id, accountId: found.accountId, username: step.account.username ?? found.accountId, proof: found.proof,
            refreshToken: step.refreshToken)
    }

    /// Returns a session of the account that `signInAs` names, or `nil` if the issuer shows its login page.
    func chosenSession(at issuer: ProviderIssuer) throws -> NewSession? {
        guard let username = issuer.settings.signInAs else { return nil }
        do {
            let name = try Username(username)
            if let account = try context.database.read({ try $0.account(named: name.folded, in: issuer.tenant.id) }) {
                return try beginSession(of: account.id, issuer.tenant, .address)
            }
            guard issuer.settings.createAccounts else { throw UserNotFound(in: issuer.tenant) }
            let account = try accounts.create(
                .init(tenantId: issuer.tenant.id, username: username, emailVerified: true), InProcessCall())
            return try beginSession(of: account.accountId, issuer.tenant, .address)
        } catch let error as any ContractError {
            throw OAuthRefusal(error, or: "access_denied")
        }
    }

    /// Creates an account for an unknown email address if the issuer has `createAccounts`.
    private func make(_ email: String, _ password: String?, at issuer: ProviderIssuer) throws -> NewSession? {
        guard issuer.settings.createAccounts, password != nil || issuer.settings.passwordless else { return nil }
        let name = try Username(email)
        guard try context.database.read({ try $0.account(named: name.folded, in: issuer.tenant.id) }) == nil else { return nil }
        let account = try accounts.create(
            .init(tenantId: issuer.tenant.id, username: email, password: password, emailVerified: true), InProcessCall())
        return try beginSession(of: account.accountId, issuer.tenant, password == nil ? .address : .password)
    }

    /// Returns the message for an error on the page.
    private static func words(for error: any ContractError, _ issuer: ProviderIssuer) -> String {
        switch error {
        case is UserNotFound where issuer.settings.createAccounts:
            "No account has this email address. Enter a password to create one."
        case is UserNotFound:
            "No account of tenant \(issuer.tenant.id) has this email address. Create one with account.create, or configure test.idp with createAccounts."
        case let wrong as InvalidPassword where wrong.reasons.contains { $0.rule == .incorrect }:
            wrong.attemptsLeft.map { "Wrong password. Attempts left: \($0)." }
                ?? "Wrong password."
        case let weak as InvalidPassword: weak.reasons.map(\.message).joined(separator: " ")
        case is ContinuationTokenExpired, is ContinuationTokenInvalid: "This took too long. Start again."
        default: error.message
        }
    }
}

extension SignInProof {
    /// The proof of a sign-in with only an email address. Nothing was verified, so its tokens contain no `amr`.
    static let address = SignInProof(amr: [], provider: customProvider)
}
