import Contract
import Messages
import ServiceContext
import Storage

/// A link that an API of another product sends by email.
package struct ProductLink: Sendable {
    package typealias Action = ActionCodePurpose

    let action: Action
    let address: String
    let code: String
    let url: String
    let lifetimeSeconds: Int64

    package init(_ action: Action, to address: String, code: String, url: String, lifetimeSeconds: Int64) {
        self.action = action
        self.address = address
        self.code = code
        self.url = url
        self.lifetimeSeconds = lifetimeSeconds
    }
}

extension ActionCodePurpose {
    /// The purpose of the message that contains the link.
    var messagePurpose: MessagePurpose {
        switch self {
        case .passwordReset: .passwordResetLink
        case .verifyEmail: .verifyAddressLink
        case .signIn: .signInLink
        case .changeEmail: .changeAddressLink
        case .revertEmail: .addressChangedLink
        }
    }
}

/// The messages of an API of another product, which has flows of its own. The limits and the hook are those of other codes.
package struct ProductMessages: Sendable {
    /// The purpose of a code by SMS.
    package enum CodePurpose: Sendable {
        case signIn
        /// The code verifies a number that becomes a second factor.
        case verifyNumber
        /// The code verifies a second factor.
        case secondFactor

        var factor: HookMessage.FactorUse? {
            switch self {
            case .signIn: nil
            case .verifyNumber: .enrollment
            case .secondFactor: .signIn
            }
        }
    }

    let context: AccountsContext
    let tenant: TenantRecord
    /// The origin of the request, for rate limits.
    let client: ClientKey?
    let call: any CallContext
    /// The language of the user, as a language tag.
    package var language: String?
    /// Whether messages are sent. Otherwise only the hook is asked: the code is read elsewhere.
    package var sends = true

    /// - Throws: `InvalidParams` if the address of the client is not valid.
    package init(_ context: AccountsContext, _ tenant: TenantRecord, from origin: ClientOrigin?, _ call: any CallContext) throws {
        (self.context, self.tenant, self.call) = (context, tenant, call)
        client = try origin.map { try ClientKey($0, in: tenant.id) }
    }

    /// Asks whether a link can be sent, and counts it. Call it before the code of the link is stored.
    ///
    /// - Throws: `RefusedByHook`, `HookFailed`, `HooksNotOffered`, `TooManyCodes`, `TooManyFromClient`.
    package func admit(linkTo address: String, for action: ProductLink.Action) throws {
        let link = ProductLink(action, to: address, code: "", url: "", lifetimeSeconds: 0)
        try admit(.email(address), link.action.messagePurpose)
    }

    /// Asks whether a code can be sent to a phone number, and counts it.
    ///
    /// - Throws: `InvalidPhoneNumber`; the errors of `admit(linkTo:for:)`.
    package func admit(codeTo number: String, for purpose: CodePurpose) throws {
        try admit(.sms(try Self.number(number)), Self.purpose(purpose), purpose.factor)
    }

    private func admit(_ recipient: Recipient, _ purpose: MessagePurpose, _ factor: HookMessage.FactorUse? = nil) throws {
        let now = context.clock.now
        let gate = HookGate(context, for: call)
        try gate.write { tx in
            let message = HookMessage(purpose: purpose, recipient: recipient, language: language, factor: factor)
            try gate.decide(about: message, of: tenant, in: tx)
            if sends { try tx.countMessage(to: recipient, of: tenant, for: client, at: now) }
        }
    }

    /// - Throws: `MessageNotSent`.
    package func send(_ link: ProductLink) throws {
        guard sends else { return }
        let action = ActionMessage(
            purpose: link.action.messagePurpose, to: link.address, code: link.code, link: link.url, lifetimeSeconds: link.lifetimeSeconds,
            at: context.clock.now)
        try counting { try MessageSending(context: context).send(action, language: language, of: tenant) }
    }

    /// Sends a notice in place of a link, so that the response takes as long as for an address that has an account.
    ///
    /// - Throws: `MessageNotSent`.
    package func sendNotice(to address: String) throws {
        guard sends else { return }
        try counting {
            try MessageSending(context: context).send(
                MessageContent(purpose: .noAccountNotice), to: .email(address), language: language, of: tenant)
        }
    }

    /// - Throws: `MessageNotSent`, `InvalidPhoneNumber`.
    package func send(_ code: String, to number: String, for purpose: CodePurpose, lifetimeSeconds: Int64) throws {
        guard sends else { return }
        let recipient = Recipient.sms(try Self.number(number))
        try counting {
            try MessageSending(context: context).send(
                MessageContent(purpose: Self.purpose(purpose), code: code, lifetimeSeconds: lifetimeSeconds), to: recipient,
                language: language, of: tenant)
        }
    }

    /// Counts a message that was not delivered for its client.
    private func counting(_ send: () throws -> Void) throws {
        do { try send() } catch let error as MessageNotSent {
            let now = context.clock.now
            try? context.database.write { try $0.countUndelivered(of: client, at: now) }
            throw error
        }
    }

    private static func purpose(_ purpose: CodePurpose) -> MessagePurpose { purpose == .verifyNumber ? .verifyAddress : .signIn }

    private static func number(_ text: String) throws -> PhoneNumber {
        do { return try PhoneNumber(text) } catch { throw InvalidPhoneNumber(reason: error.description) }
    }

    // MARK: Guessing

    /// Counts the outcome of a submitted code for its phone number, across all codes to it. Also counts for codes that never change.
    ///
    /// - Parameter isRight: Whether the code is right.
    /// - Throws: `AccountLocked` after too many wrong codes, also for the right one.
    package func judge(codeOf number: String, isRight: Bool) throws {
        let (now, subject) = (context.clock.now, "phone/\(tenant.id)/\(number)")
        try context.database.write { tx in
            try tx.lock([subject])
            var lockout = try tx.lockout(of: subject, at: now)
            try lockout.check(at: now)
            if isRight { return try tx.clearLockout(of: subject) }
            lockout.fail(nil, tenant.lockout, at: now)
            try tx.setLockout(lockout, of: subject, at: now)
            try tx.countFailure(of: client, at: now)
        }
    }

    /// The number of wrong codes after which a code is no longer accepted.
    package var mostAttempts: Int64 { tenant.codes.attempts }
}
