import Contract

/// Decides whether a sign-in requires a second factor (Sources/Accounts/README.md, "Second factors").
enum SecondFactorRule {
    enum Decision: Equatable {
        case nothing
        /// The sign-in requires one of the factors with these IDs.
        case challenge([String])
        /// The tenant requires a second factor, and the account has none.
        case enrollment
    }

    /// - Parameters:
    ///   - proof: The verified first factor.
    ///   - factors: The factors of the account. Most sign-ins need neither them nor the passkeys, so both are read only if necessary.
    ///   - passkeys: The passkeys with which the user signs in. They satisfy a second factor that is required for another reason.
    static func decide(
        _ policy: MfaPolicy, _ proof: SignInProof, _ factors: @autoclosure () throws -> [FactorRecord],
        passkeys: @autoclosure () throws -> [PasskeyRecord]
    ) rethrows -> Decision {
        // The backend that signs custom tokens is responsible for its own factors; anonymous accounts have none.
        if policy == .off || proof.provider == SignInProof.anonymous.provider || proof.provider == SignInProof.customProvider {
            return .nothing
        }
        if proof.provider == SignInProof.passkeyProvider, PasskeyMethods.areTwoFactors(proof.amr) { return .nothing }
        let factors = try factors()
        if factors.isEmpty, policy != .required { return .nothing }
        let all = useful(factors, after: proof, passkeys: try passkeys())
        return all.isEmpty ? .enrollment : .challenge(all.map(\.id))
    }

    /// Decides without the passkeys with which the user signs in.
    static func decide(
        _ policy: MfaPolicy, _ proof: SignInProof, _ factors: @autoclosure () throws -> [FactorRecord]
    ) rethrows -> Decision {
        try decide(policy, proof, try factors(), passkeys: [])
    }

    /// Returns the factors that add security to the first one. After a code by email or SMS, factors of the same channel add none. If there
    /// are no others, they are still returned, so that the user is not locked out.
    ///
    /// - Parameter passkeys: The passkeys with which the user signs in. That of the first factor adds none.
    static func useful(_ factors: [FactorRecord], after proof: SignInProof, passkeys: [PasskeyRecord] = []) -> [FactorRecord] {
        let factors = factors + passkeys.filter { $0.usage == .signIn && $0.id != proof.passkeyId }.map(FactorRecord.init)
        let same: FactorRecord.Kind
        switch proof.provider {
        case SignInProof.code.provider: same = .email
        case SignInProof.phoneProvider: same = .sms
        default: return factors
        }
        let others = factors.filter { $0.kind != same }
        return others.isEmpty ? factors : others
    }
}

/// Decides whether a factor can be enrolled.
enum EnrollmentRule {
    struct Facts {
        var policy = MfaPolicy.optional
        /// The provider of the session or of the pending sign-in.
        var signInProvider = "password"
        /// Whether a second factor was verified in the session.
        var hasSecondFactor = false
        var kind = FactorRecord.Kind.totp
        var target: String?
        var email: String?
        var isEmailVerified = true
        /// The account's own sign-in method.
        var ownWayIn: String? = "password"
        var isRecent = true
        var factors: [FactorRecord] = []
    }

    enum Refusal: Error, Equatable {
        case off
        case unsupportedFirstFactor
        case emailNotVerified
        case tooOld
        case secondFactorNeeded
        case tooMany
        case exists(String)
        /// The sign-in already uses codes sent to this address.
        case addsNothing
    }

    /// Returns the kinds that can be enrolled in a sign-in that requires a second factor. These are the kinds that `check` accepts for some
    /// target and whose codes can be sent.
    static func kinds(
        email: String?, isEmailVerified: Bool, ownWayIn: String?, hasPasskeys: Bool = false, canSend: (Channel) -> Bool
    ) -> [FactorKind] {
        FactorKind.allCases.filter { kind in
            switch kind {
            case .totp: email == nil || isEmailVerified
            case .passkey: hasPasskeys && (email == nil || isEmailVerified)
            case .sms: (email == nil || isEmailVerified) && canSend(.sms)
            // Until the account's own address is verified, it is the only address that can be enrolled; it adds nothing to a sign-in by
            // emailed codes.
            case .email: (email == nil || isEmailVerified || ownWayIn != "code") && canSend(.email)
            }
        }
    }

    static func check(_ facts: Facts) throws(Refusal) {
        if facts.policy == .off { throw .off }
        if facts.signInProvider == SignInProof.anonymous.provider || facts.signInProvider == SignInProof.customProvider {
            throw .unsupportedFirstFactor
        }
        // Enrolling the account's own address also verifies it. An account without an address can enroll any.
        let ownAddress = facts.email.map(Username.fold)
        let isOwnAddress = facts.kind == .email && facts.target.map(Username.fold) == ownAddress
        if ownAddress != nil, !facts.isEmailVerified, !isOwnAddress { throw .emailNotVerified }
        if !facts.isRecent { throw .tooOld }
        if !facts.factors.isEmpty, !facts.hasSecondFactor { throw .secondFactorNeeded }
        if facts.factors.count >= FactorRecord.most { throw .tooMany }
        if isOwnAddress, facts.ownWayIn == "code" { throw .addsNothing }
        if facts.kind == .sms, facts.signInProvider == SignInProof.phoneProvider { throw .addsNothing }
        let twin = facts.factors.first { factor in
            factor.kind == facts.kind && facts.target != nil && factor.target.map(Username.fold) == facts.target.map(Username.fold)
        }
        if let twin { throw .exists(twin.id) }
    }
}

/// Decides whether a factor can be removed.
enum WithdrawalRule {
    enum Refusal: Error, Equatable {
        case notFound
        case tooOld
        case secondFactorNeeded
        /// The tenant requires a second factor, and this is the last one.
        case last
    }

    struct Facts {
        /// The factors of the account.
        let factors: [FactorRecord]
        let policy: MfaPolicy
        /// Whether the caller is the signed-in user; otherwise it is the developer.
        let isOwner: Bool
        let isRecent: Bool
        /// Whether the session must verify a second factor first.
        let needsSecondFactor: Bool
    }

    static func check(_ factorId: String, _ facts: Facts) throws(Refusal) {
        guard facts.factors.contains(where: { $0.id == factorId }) else { throw .notFound }
        // The developer can remove a lost factor even if it is the last one: the user enrolls another at the next sign-in.
        guard facts.isOwner else { return }
        if !facts.isRecent { throw .tooOld }
        if facts.needsSecondFactor { throw .secondFactorNeeded }
        if facts.policy == .required, facts.factors.count == 1 { throw .last }
    }
}
