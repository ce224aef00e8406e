import Contract
import Testing

@testable import Accounts

@Suite("Requirement of a second factor") struct SecondFactorRuleTests {
    private func factor(_ kind: FactorRecord.Kind, _ target: String? = nil) -> FactorRecord {
        FactorRecord(id: "\(kind.rawValue)-1", accountId: "alice", kind: kind, target: target, enrolledAt: 0)
    }

    @Test("with the policy off, no second factor is required")
    func off() { #expect(SecondFactorRule.decide(.off, .password, [factor(.totp)]) == .nothing) }

    @Test("with the policy optional, an enrolled factor is required")
    func optional() {
        #expect(SecondFactorRule.decide(.optional, .password, []) == .nothing)
        #expect(SecondFactorRule.decide(.optional, .password, [factor(.totp)]) == .challenge(["totp-1"]))
        #expect(SecondFactorRule.decide(.optional, .provider("google.com"), [factor(.totp)]) == .challenge(["totp-1"]))
    }

    @Test("with the policy required, an account without a factor must enroll one")
    func required() {
        #expect(SecondFactorRule.decide(.required, .password, []) == .enrollment)
        #expect(SecondFactorRule.decide(.required, .code, []) == .enrollment)
        #expect(SecondFactorRule.decide(.required, .password, [factor(.sms)]) == .challenge(["sms-1"]))
    }

    private func passkey(_ id: UInt8, _ usage: PasskeyRecord.Usage = .signIn, hardware: Bool? = nil, trust: String = "none")
        -> PasskeyRecord
    {
        var passkey = PasskeyRecord(
            tenantId: "default", credentialId: [id], accountId: "alice", name: "Passkey", publicKey: [], algorithm: -7, counter: 0,
            userHandle: [], transports: [], isBackupEligible: false, isBackedUp: false, isUserVerified: true, isDiscoverable: nil,
            aaguid: [], attestationFormat: "none", attestationTrust: trust, relyingPartyId: "example.com", createdAt: 0)
        passkey.usage = usage
        passkey.isHardwareProtected = hardware
        return passkey
    }

    @Test("passkeys that sign in satisfy a required second factor, except the one with which the sign-in began")
    func passkeys() {
        let (first, other) = (passkey(1), passkey(2))
        let ids = [first, other].map { FactorRecord.id(ofPasskey: $0.credentialId) }
        #expect(SecondFactorRule.decide(.optional, .password, [], passkeys: [first]) == .nothing)
        #expect(SecondFactorRule.decide(.required, .password, [], passkeys: [first, other]) == .challenge(ids))
        #expect(SecondFactorRule.decide(.optional, .code, [factor(.totp)], passkeys: [first]) == .challenge(["totp-1", ids[0]]))
        let unverified = SignInProof.passkey(first, isVerified: false)
        #expect(SecondFactorRule.decide(.required, unverified, [], passkeys: [first]) == .enrollment)
        #expect(SecondFactorRule.decide(.required, unverified, [], passkeys: [first, other]) == .challenge([ids[1]]))
        #expect(SecondFactorRule.decide(.required, .passkey(first, isVerified: true), [], passkeys: [first]) == .nothing)
        #expect(SecondFactorRule.decide(.required, .password, [], passkeys: [passkey(3, .secondFactor)]) == .enrollment)
    }

    @Test("factors and passkeys are read only for decisions that depend on them")
    func reads() throws {
        struct Read: Error {}
        func unread<Record>() throws -> [Record] { throw Read() }
        let verified = SignInProof.passkey(passkey(1), isVerified: true)
        #expect(try SecondFactorRule.decide(.off, .password, try unread(), passkeys: try unread()) == .nothing)
        #expect(try SecondFactorRule.decide(.required, verified, try unread(), passkeys: try unread()) == .nothing)
        #expect(try SecondFactorRule.decide(.optional, .password, [], passkeys: try unread()) == .nothing)
        #expect(throws: Read.self) { try SecondFactorRule.decide(.optional, .password, try unread()) }
        #expect(throws: Read.self) { try SecondFactorRule.decide(.required, .password, [], passkeys: try unread()) }
    }

    @Test("the methods and the strength of a passkey follow from its backup, metadata and trust")
    func strength() {
        let key = VerifiedFactor(passkey(1, .secondFactor, hardware: true, trust: "verified"))
        #expect(SignInProof.password.adding(key).amr == ["pwd", "hwk", "user", "mfa"])
        #expect(SignInProof.password.adding(key).acr == "phrh")
        #expect(SignInProof.passkey(passkey(1), isVerified: false).adding(key).acr == "phrh")
        #expect(SignInProof.passkey(passkey(1, hardware: true), isVerified: false).acr == "phr")
        #expect(SignInProof.passkey(passkey(1, hardware: false, trust: "verified"), isVerified: false).amr == ["swk", "user"])
        let stored = VerifiedFactor(kind: "passkey", factorId: key.factorId, amr: ["pwd", "hwk", "user", "mfa"], acr: "phrh")
        #expect(SignInProof.password.adding(stored) == SignInProof.password.adding(key))
    }

    @Test("custom tokens and anonymous accounts require no second factor", arguments: [MfaPolicy.optional, .required])
    func privileged(policy: MfaPolicy) {
        #expect(SecondFactorRule.decide(policy, .custom([:]), [factor(.totp)]) == .nothing)
        #expect(SecondFactorRule.decide(policy, .anonymous, []) == .nothing)
    }

    @Test("after an emailed code, an email factor is requested only if it is the only factor")
    func sameMailbox() {
        #expect(SecondFactorRule.decide(.optional, .code, [factor(.email), factor(.totp)]) == .challenge(["totp-1"]))
        #expect(SecondFactorRule.decide(.optional, .code, [factor(.email)]) == .challenge(["email-1"]))
        #expect(SecondFactorRule.decide(.optional, .password, [factor(.email), factor(.totp)]) == .challenge(["email-1", "totp-1"]))
    }

    @Test("amr contains the methods of both factors and mfa, each once")
    func methods() {
        let totp = VerifiedFactor(kind: "totp", factorId: "1")
        #expect(SignInProof.password.adding(totp).amr == ["pwd", "otp", "mfa"])
        #expect(SignInProof.code.adding(totp).amr == ["otp", "mfa"])
        #expect(SignInProof.password.adding(VerifiedFactor(kind: "sms", factorId: "1")).amr == ["pwd", "sms", "mfa"])
        #expect(SignInProof.password.adding(totp).adding(totp).amr == ["pwd", "otp", "mfa"])
        #expect(SignInProof.password.adding(nil) == .password)
    }
}

@Suite("Conditions for enrollment of a second factor") struct EnrollmentRuleTests {
    private typealias Facts = EnrollmentRule.Facts

    private func refusal(_ change: (inout EnrollmentRule.Facts) -> Void) -> EnrollmentRule.Refusal? {
        var facts = EnrollmentRule.Facts(email: "alice@example.com")
        change(&facts)
        do {
            try EnrollmentRule.check(facts)
            return nil
        } catch { return error }
    }

    private func factors(_ count: Int) -> [FactorRecord] {
        (0..<count).map { FactorRecord(id: "\($0)", accountId: "alice", kind: .sms, target: "+491511234567\($0)", enrolledAt: 0) }
    }

    @Test("the first factor can be enrolled") func first() { #expect(refusal { _ in } == nil) }

    @Test("enrollment fails if the tenant's policy is off") func off() { #expect(refusal { $0.policy = .off } == .off) }

    @Test("enrollment fails with an unsupported first factor", arguments: ["anonymous", "custom"])
    func firstFactor(provider: String) { #expect(refusal { $0.signInProvider = provider } == .unsupportedFirstFactor) }

    @Test("enrollment fails with an unverified address, unless the factor verifies that address")
    func unverified() {
        #expect(refusal { $0.isEmailVerified = false } == .emailNotVerified)
        #expect(
            refusal {
                $0.isEmailVerified = false
                $0.kind = .email
                $0.target = "other@example.com"
            } == .emailNotVerified)
        #expect(
            refusal {
                $0.isEmailVerified = false
                $0.kind = .email
                $0.target = "Alice@example.com"
            } == nil)
        #expect(
            refusal {
                $0.isEmailVerified = false
                $0.email = nil
            } == nil)
    }

    @Test("enrollment fails without a recent sign-in") func old() { #expect(refusal { $0.isRecent = false } == .tooOld) }

    @Test("enrollment of another factor requires a session with a second factor")
    func another() {
        #expect(refusal { $0.factors = factors(1) } == .secondFactorNeeded)
        #expect(
            refusal {
                $0.factors = factors(1)
                $0.hasSecondFactor = true
            } == nil)
    }

    @Test("an account can have at most five factors")
    func limit() {
        for (count, expected) in [(4, nil), (5, .tooMany)] as [(Int, EnrollmentRule.Refusal?)] {
            #expect(
                refusal {
                    $0.factors = factors(count)
                    $0.hasSecondFactor = true
                } == expected)
        }
    }

    @Test("enrollment of the same number or address fails")
    func twice() {
        #expect(
            refusal {
                $0.factors = factors(1)
                $0.hasSecondFactor = true
                $0.kind = .sms
                $0.target = "+4915112345670"
            } == .exists("0"))
    }

    @Test("an email factor with the address of the one-time codes is rejected")
    func sameMailbox() {
        #expect(
            refusal {
                $0.ownWayIn = "code"
                $0.kind = .email
                $0.target = "alice@example.com"
            } == .addsNothing)
        #expect(
            refusal {
                $0.ownWayIn = "code"
                $0.kind = .email
                $0.target = "other@example.com"
            } == nil)
    }
}

@Suite("Conditions for removal of a second factor") struct WithdrawalRuleTests {
    private func refusal(
        _ id: String = "1", _ policy: MfaPolicy = .optional, count: Int = 1, isOwner: Bool = true, isRecent: Bool = true,
        needs: Bool = false
    ) -> WithdrawalRule.Refusal? {
        let factors = (1...count).map { FactorRecord(id: "\($0)", accountId: "alice", kind: .totp, enrolledAt: 0) }
        do {
            try WithdrawalRule.check(
                id, .init(factors: factors, policy: policy, isOwner: isOwner, isRecent: isRecent, needsSecondFactor: needs))
            return nil
        } catch { return error }
    }

    @Test("the user can remove a factor after a recent sign-in with a second factor")
    func owner() {
        #expect(refusal() == nil)
        #expect(refusal("2") == .notFound)
        #expect(refusal(isRecent: false) == .tooOld)
        #expect(refusal(needs: true) == .secondFactorNeeded)
    }

    @Test("if a factor is required, only the developer can remove the last one")
    func last() {
        #expect(refusal("1", .required) == .last)
        #expect(refusal("1", .required, count: 2) == nil)
        #expect(refusal("1", .required, isOwner: false, isRecent: false, needs: true) == nil)
        #expect(refusal("2", .required, isOwner: false) == .notFound)
    }
}
