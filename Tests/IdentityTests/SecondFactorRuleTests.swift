import Contract
import Testing

@testable import Accounts

@Suite("When a second factor is asked for") struct SecondFactorRuleTests {
    private func factor(_ kind: FactorRecord.Kind, _ target: String? = nil) -> FactorRecord {
        FactorRecord(id: "\(kind.rawValue)-1", accountId: "alice", kind: kind, target: target, enrolledAt: 0)
    }

    @Test("switched off, nobody is asked, whatever they have enrolled")
    func off() { #expect(SecondFactorRule.decide(.off, .password, [factor(.totp)]) == .nothing) }

    @Test("optional: who has one is asked for it, others are not")
    func optional() {
        #expect(SecondFactorRule.decide(.optional, .password, []) == .nothing)
        #expect(SecondFactorRule.decide(.optional, .password, [factor(.totp)]) == .challenge(["totp-1"]))
        #expect(SecondFactorRule.decide(.optional, .provider("google.com"), [factor(.totp)]) == .challenge(["totp-1"]))
    }

    @Test("required: who has none enrols one")
    func required() {
        #expect(SecondFactorRule.decide(.required, .password, []) == .enrolment)
        #expect(SecondFactorRule.decide(.required, .code, []) == .enrolment)
        #expect(SecondFactorRule.decide(.required, .password, [factor(.sms)]) == .challenge(["sms-1"]))
    }

    @Test("custom tokens and anonymous accounts are asked for nothing", arguments: [MfaPolicy.optional, .required])
    func privileged(policy: MfaPolicy) {
        #expect(SecondFactorRule.decide(policy, .custom([:]), [factor(.totp)]) == .nothing)
        #expect(SecondFactorRule.decide(policy, .anonymous, []) == .nothing)
    }

    @Test("after a mailed code another mailed code is asked for only where there is nothing else")
    func sameMailbox() {
        #expect(SecondFactorRule.decide(.optional, .code, [factor(.email), factor(.totp)]) == .challenge(["totp-1"]))
        #expect(SecondFactorRule.decide(.optional, .code, [factor(.email)]) == .challenge(["email-1"]))
        #expect(SecondFactorRule.decide(.optional, .password, [factor(.email), factor(.totp)]) == .challenge(["email-1", "totp-1"]))
    }

    @Test("the methods of both factors stand in amr, with mfa, each once")
    func methods() {
        let totp = ShownFactor(kind: "totp", factorId: "1")
        #expect(SignInProof.password.adding(totp).amr == ["pwd", "otp", "mfa"])
        #expect(SignInProof.code.adding(totp).amr == ["otp", "mfa"])
        #expect(SignInProof.password.adding(ShownFactor(kind: "sms", factorId: "1")).amr == ["pwd", "sms", "mfa"])
        #expect(SignInProof.password.adding(totp).adding(totp).amr == ["pwd", "otp", "mfa"])
        #expect(SignInProof.password.adding(nil) == .password)
    }
}

@Suite("Who may enrol a second factor") struct EnrolmentRuleTests {
    private typealias Facts = EnrolmentRule.Facts

    private func refusal(_ change: (inout EnrolmentRule.Facts) -> Void) -> EnrolmentRule.Refusal? {
        var facts = EnrolmentRule.Facts(email: "alice@example.com")
        change(&facts)
        do {
            try EnrolmentRule.check(facts)
            return nil
        } catch { return error }
    }

    private func factors(_ count: Int) -> [FactorRecord] {
        (0..<count).map { FactorRecord(id: "\($0)", accountId: "alice", kind: .sms, target: "+491511234567\($0)", enrolledAt: 0) }
    }

    @Test("nothing stands against the first one") func first() { #expect(refusal { _ in } == nil) }

    @Test("not where the tenant has none") func off() { #expect(refusal { $0.policy = .off } == .off) }

    @Test("not with a first factor that none goes with", arguments: ["anonymous", "custom"])
    func firstFactor(provider: String) { #expect(refusal { $0.signInProvider = provider } == .unsupportedFirstFactor) }

    @Test("not with an address that may be somebody else's, unless the address itself is shown by it")
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

    @Test("not long after the sign-in") func old() { #expect(refusal { $0.isRecent = false } == .tooOld) }

    @Test("not the second one without having shown the first")
    func another() {
        #expect(refusal { $0.factors = factors(1) } == .secondFactorNeeded)
        #expect(
            refusal {
                $0.factors = factors(1)
                $0.hasSecondFactor = true
            } == nil)
    }

    @Test("five, and no sixth")
    func limit() {
        for (count, expected) in [(4, nil), (5, .tooMany)] as [(Int, EnrolmentRule.Refusal?)] {
            #expect(
                refusal {
                    $0.factors = factors(count)
                    $0.hasSecondFactor = true
                } == expected)
        }
    }

    @Test("not the same number or address twice")
    func twice() {
        #expect(
            refusal {
                $0.factors = factors(1)
                $0.hasSecondFactor = true
                $0.kind = .sms
                $0.target = "+4915112345670"
            } == .exists("0"))
    }

    @Test("not the address that codes go to already")
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

@Suite("Who may take a second factor away") struct WithdrawalRuleTests {
    private func refusal(
        _ id: String = "1", _ policy: MfaPolicy = .optional, count: Int = 1, isOwner: Bool = true, isRecent: Bool = true,
        needs: Bool = false
    ) -> WithdrawalRule.Refusal? {
        let factors = (1...count).map { FactorRecord(id: "\($0)", accountId: "alice", kind: .totp, enrolledAt: 0) }
        do {
            try WithdrawalRule.check(id, of: factors, policy, isOwner: isOwner, isRecent: isRecent, needsSecondFactor: needs)
            return nil
        } catch { return error }
    }

    @Test("its owner, soon after a sign-in with a second factor")
    func owner() {
        #expect(refusal() == nil)
        #expect(refusal("2") == .notFound)
        #expect(refusal(isRecent: false) == .tooOld)
        #expect(refusal(needs: true) == .secondFactorNeeded)
    }

    @Test("the last one stays where one is required, unless the developer takes it")
    func last() {
        #expect(refusal("1", .required) == .last)
        #expect(refusal("1", .required, count: 2) == nil)
        #expect(refusal("1", .required, isOwner: false, isRecent: false, needs: true) == nil)
        #expect(refusal("2", .required, isOwner: false) == .notFound)
    }
}
