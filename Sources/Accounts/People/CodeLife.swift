import Contract

/// How long the code of a flow is good, and what sends another one (native-auth.md 1.8).
extension Flow {
    /// The method that sends another code.
    var resendMethod: String {
        switch kind.namespace {
        case "account": "account.changeEmail"
        case "mfa": "mfa.challenge"
        case let namespace: "\(namespace).resendCode"
        }
    }

    /// The method that begins another flow of its kind; nil where that depends on how somebody signed in.
    var startMethod: String? {
        switch (kind, stage) {
        case (.signUp, .codeRequired), (.signIn, _), (.passwordReset, .codeRequired): "\(kind.rawValue).start"
        case (.emailChange, .codeRequired), (.emailVerification, _): "account.changeEmail"
        case (.factorEnrolment, _): "mfa.enroll"
        default: nil
        }
    }

    /// When people are advised to ask for another code.
    func resendAt(_ policy: CodePolicy) -> Int64 { code.sentAt + policy.resendAfterSeconds }

    /// Against a code that can no longer match nothing is counted: nobody guesses by it. Whether the given one would have been right does
    /// not matter, so nobody learns that either.
    ///
    /// - Throws: `CodeExpired`.
    func requireLivingCode(_ policy: CodePolicy, at now: Int64) throws {
        if now >= code.expiresAt {
            throw CodeExpired(expiredAt: code.expiresAt, next: resendMethod, resendAt: resendAt(policy))
        }
        if code.tries >= policy.attempts {
            throw CodeExpired(wrongTries: code.tries, next: resendMethod, resendAt: resendAt(policy))
        }
    }
}
