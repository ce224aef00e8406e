import Contract

/// What a sign-in needs beside its first factor (firebase.md 6.3; native-auth.md 2.3, 2.6, 2.7).
enum SecondFactorRule {
    enum Decision: Equatable {
        case nothing
        /// One of these, named by their ids.
        case challenge([String])
        /// The tenant requires one, and there is none.
        case enrolment
    }

    /// - Parameters:
    ///   - proof: how the first factor was shown.
    ///   - factors: those of the account.
    static func decide(_ policy: MfaPolicy, _ proof: SignInProof, _ factors: [FactorRecord]) -> Decision {
        // A backend that signs custom tokens answers for what it asks people for; whoever is anonymous has nothing to show.
        if policy == .off || proof.provider == SignInProof.anonymous.provider || proof.provider == SignInProof.customProvider {
            return .nothing
        }
        if factors.isEmpty { return policy == .required ? .enrolment : .nothing }
        return .challenge(useful(factors, after: proof).map(\.id))
    }

    /// The factors that add something to a first one: after a code that was mailed, another one shows nothing new. Where there is nothing
    /// else it is asked for all the same, so that nobody is locked out.
    static func useful(_ factors: [FactorRecord], after proof: SignInProof) -> [FactorRecord] {
        guard proof.provider == SignInProof.code.provider else { return factors }
        let others = factors.filter { $0.kind != .email }
        return others.isEmpty ? factors : others
    }
}

/// Who may enrol a factor, and which (firebase.md 6.1, in its order; 7).
enum EnrolmentRule {
    struct Facts {
        var policy = MfaPolicy.optional
        /// What the session, or the sign-in that is under way, began with.
        var signInProvider = "password"
        /// Whether the session has shown a second factor.
        var hasSecondFactor = false
        var kind = FactorRecord.Kind.totp
        var target: String?
        var email: String?
        var isEmailVerified = true
        /// The account's own way in.
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
        /// Codes go to the address already.
        case addsNothing
    }

    /// The kinds that a sign-in can enroll which needs a second factor and has none: those that `check` accepts for some target, and
    /// whose codes can be sent.
    static func kinds(
        email: String?, isEmailVerified: Bool, ownWayIn: String?, canSend: (Channel) -> Bool
    ) -> [FactorKind] {
        FactorKind.allCases.filter { kind in
            switch kind {
            case .totp: email == nil || isEmailVerified
            case .sms: (email == nil || isEmailVerified) && canSend(.sms)
            // Until the own address is verified it alone can be enrolled, and it adds nothing to codes that go there.
            case .email: (email == nil || isEmailVerified || ownWayIn != "code") && canSend(.email)
            }
        }
    }

    static func check(_ facts: Facts) throws(Refusal) {
        if facts.policy == .off { throw .off }
        if facts.signInProvider == SignInProof.anonymous.provider || facts.signInProvider == SignInProof.customProvider {
            throw .unsupportedFirstFactor
        }
        // Whoever enrols the very address shows it to be theirs. An account without one keeps nobody from theirs.
        let ownAddress = facts.email.map(Username.fold)
        let isOwnAddress = facts.kind == .email && facts.target.map(Username.fold) == ownAddress
        if ownAddress != nil, !facts.isEmailVerified, !isOwnAddress { throw .emailNotVerified }
        if !facts.isRecent { throw .tooOld }
        if !facts.factors.isEmpty, !facts.hasSecondFactor { throw .secondFactorNeeded }
        if facts.factors.count >= FactorRecord.most { throw .tooMany }
        if isOwnAddress, facts.ownWayIn == "code" { throw .addsNothing }
        let twin = facts.factors.first { factor in
            factor.kind == facts.kind && facts.target != nil && factor.target.map(Username.fold) == facts.target.map(Username.fold)
        }
        if let twin { throw .exists(twin.id) }
    }
}

/// Who may take a factor away (firebase.md 6.4, 7).
enum WithdrawalRule {
    enum Refusal: Error, Equatable {
        case notFound
        case tooOld
        case secondFactorNeeded
        /// The tenant requires one, and this is the only one.
        case last
    }

    /// - Parameters:
    ///   - isOwner: whether the account's owner asks; else the developer does.
    ///   - needsSecondFactor: whether the session has to have shown one and has not.
    static func check(
        _ factorId: String, of factors: [FactorRecord], _ policy: MfaPolicy, isOwner: Bool, isRecent: Bool, needsSecondFactor: Bool
    ) throws(Refusal) {
        guard factors.contains(where: { $0.id == factorId }) else { throw .notFound }
        // The developer takes a lost one away so that its owner can enrol another at the next sign-in.
        guard isOwner else { return }
        if !isRecent { throw .tooOld }
        if needsSecondFactor { throw .secondFactorNeeded }
        if policy == .required, factors.count == 1 { throw .last }
    }
}
