import Contract

/// The lifetime of a flow's code, and the methods that replace it.
extension Flow {
    /// The method that sends a new code.
    var resendMethod: String {
        switch kind.namespace {
        case "account": "account.changeEmail"
        case "mfa": "mfa.challenge"
        case let namespace: "\(namespace).resendCode"
        }
    }

    /// The method that starts another flow of this kind, or `nil` if it depends on the user's sign-in method.
    var startMethod: String? {
        if phoneNumber != nil { return SignInStartWithPhoneNumber.info.name }
        return switch (kind, stage) {
        case (.signUp, .codeRequired), (.signIn, _), (.passwordReset, .codeRequired): "\(kind.rawValue).start"
        case (.emailChange, .codeRequired), (.emailVerification, _): "account.changeEmail"
        case (.factorEnrollment, _): "mfa.enroll"
        default: nil
        }
    }

    /// The time from which the user is advised to request a new code.
    func resendAt(_ policy: CodePolicy) -> Int64 { code.sentAt + policy.resendAfterSeconds }

    /// Rejects any submission for a code that expired or has no attempts left. The submission is not counted, because it cannot succeed,
    /// and the
    /// error does not reveal whether the code was correct.
    ///
    /// - Throws: `CodeExpired`, `StepNotPossible` if no code was sent.
    func requireLivingCode(_ policy: CodePolicy, at now: Int64) throws {
        if awaitsFirstCode, [.signUp, .signIn, .passwordReset].contains(kind) {
            throw StepNotPossible(expected: "\(kind.namespace).challenge")
        }
        if now >= code.expiresAt {
            throw CodeExpired(expiredAt: code.expiresAt, next: resendMethod, resendAt: resendAt(policy))
        }
        if code.tries >= policy.attempts {
            throw CodeExpired(wrongTries: code.tries, next: resendMethod, resendAt: resendAt(policy))
        }
    }
}
