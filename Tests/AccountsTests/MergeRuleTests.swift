import Contract
import JSON
import Testing

@testable import Accounts

@Suite("merging of two accounts")
struct MergeRuleTests {
    private func account(_ id: String, _ method: AccountRecord.Method = .anonymous, email: String? = nil) -> AccountRecord {
        AccountRecord(
            id: id, tenantId: "default", username: email, email: email, isEmailVerified: email != nil, method: method,
            password: method == .password ? [1] : nil, attributes: [:], createdAt: 1, updatedAt: 1)
    }

    private func side(_ account: AccountRecord, _ logins: [String] = [], factors: [String] = []) -> MergeRule.Side {
        MergeRule.Side(
            account: account, logins: logins.map { AccountLogin(providerId: $0, subject: account.id, linkedAt: 1) },
            factors: factors.enumerated().map {
                FactorRecord(id: "\(account.id)\($0.offset)", accountId: account.id, kind: .sms, target: $0.element, enrolledAt: 1)
            })
    }

    private func plan(_ target: MergeRule.Side, _ source: MergeRule.Side, _ choices: MergeRule.Choices = .init()) throws -> MergeRule.Plan {
        try MergeRule(choices: choices).plan(target, source, at: 9)
    }

    @Test(
        "the sign-in method of the merged account follows from the policy",
        arguments: [
            (AccountRecord.Method.anonymous, AccountRecord.Method.anonymous, MergePolicy.fail, AccountRecord.Method.anonymous),
            (.anonymous, .password, .fail, .password), (.anonymous, .code, .fail, .code), (.password, .anonymous, .fail, .password),
            (.password, .code, .keepTarget, .password), (.password, .code, .keepSource, .code), (.code, .password, .keepSource, .password),
            (.custom, .anonymous, .fail, .custom), (.custom, .password, .fail, .password), (.anonymous, .custom, .fail, .federated),
        ])
    func method(_ target: AccountRecord.Method, _ source: AccountRecord.Method, _ policy: MergePolicy, _ wanted: AccountRecord.Method)
        throws
    {
        func made(_ id: String, _ method: AccountRecord.Method) -> AccountRecord {
            account(id, method, email: method == .password || method == .code ? "\(id)@example.com" : nil)
        }
        let plan = try plan(side(made("a", target)), side(made("b", source)), .init(policy: policy))
        #expect(plan.account.method == wanted)
        #expect(plan.undecided.isEmpty)
        #expect((plan.account.password != nil) == (wanted == .password))
    }

    @Test("a password is kept only with its address, and an unverified address does not become verified")
    func address() throws {
        var target = account("a", .federated, email: "a@example.com")
        target.isEmailVerified = false
        let source = account("b", .password, email: "b@example.com")
        let kept = try plan(side(target, ["oidc.a"]), side(source), .init(policy: .keepTarget))
        #expect(kept.account.password == nil)
        #expect(!kept.account.isEmailVerified)
        #expect(kept.account.method == .federated)
        #expect(kept.droppedWays.map(\.providerId) == ["password"])
        let taken = try plan(side(target, ["oidc.a"]), side(source), .init(policy: .keepSource))
        #expect(taken.account.email == "b@example.com")
        #expect(taken.account.isEmailVerified)
        #expect(taken.movedWay == "password")
    }

    @Test("equal values do not conflict")
    func same() throws {
        var (target, source) = (account("a"), account("b"))
        target.attributes = ["city": "Ulm", "size": 1]
        source.attributes = ["city": "Ulm", "size": 2, "name": "B"]
        target.claims = ["plan": "gold"]
        source.claims = ["plan": "gold"]
        let plan = try plan(side(target), side(source), .init(fields: ["size": .keepSource]))
        #expect(plan.conflicts.map(\.name) == ["size"])
        #expect(plan.account.attributes == ["city": "Ulm", "size": 2, "name": "B"])
    }

    @Test("a policy for a named provider takes precedence over the general policy")
    func choices() throws {
        let choices = MergeRule.Choices(policy: .keepSource, providers: ["oidc.a": .keepTarget, "oidc.b": .fail])
        let plan = try plan(
            side(account("a"), ["oidc.a", "oidc.b", "oidc.c"]), side(account("b"), ["oidc.a", "oidc.b", "oidc.c"]), choices)
        #expect(plan.conflicts.map(\.policy) == [.keepTarget, .fail, .keepSource])
        #expect(plan.undecided.map(\.name) == ["oidc.b"])
    }

    @Test("merged claims that exceed the limit are rejected")
    func longClaims() {
        var (target, source) = (account("a"), account("b"))
        target.claims = ["a": .string(String(repeating: "x", count: 600))]
        source.claims = ["b": .string(String(repeating: "x", count: 600))]
        #expect(throws: ClaimsTooLong.self) { try plan(side(target), side(source)) }
    }

    @Test("random merges lose nothing unreported, duplicate nothing and keep every factor")
    func randomPairs() throws {
        var random = SystemRandomNumberGenerator()
        let providers = ["oidc.a", "oidc.b", "oidc.c", "google.com"]
        let policies: [MergePolicy] = [.keepTarget, .keepSource]
        func some(_ all: [String]) -> [String] { all.filter { _ in Bool.random(using: &random) } }
        func made(_ id: String) -> MergeRule.Side {
            let method = [AccountRecord.Method.password, .code, .federated, .anonymous, .custom].randomElement(using: &random)!
            let hasAddress = method == .password || method == .code || (method == .federated && Bool.random(using: &random))
            return side(
                account(id, method, email: hasAddress ? "\(id)@example.com" : nil), method == .anonymous ? [] : some(providers),
                factors: some(["+4911111111", "+4922222222"] + (id == "a" ? ["+4933333333"] : ["+4944444444"])))
        }
        for _ in 0..<3000 {
            let (target, source) = (made("a"), made("b"))
            let named = some(providers).map { ($0, policies.randomElement(using: &random)!) }
            let choices = MergeRule.Choices(policy: policies.randomElement(using: &random)!, providers: Members(named))
            let plan = try plan(target, source, choices)
            let replaced = Set(plan.replacedLogins.map(\.providerId))
            let kept = target.logins.filter { !replaced.contains($0.providerId) } + plan.movedLogins
            let after = Set(plan.account.providers(kept).map { "\($0.providerId) \($0.subject)" })
            let dropped = Set(plan.droppedWays.map { "\($0.providerId) \($0.subject)" })
            let before = [target, source].flatMap { $0.account.providers($0.logins) }.map { "\($0.providerId) \($0.subject)" }
            #expect(after.union(dropped) == Set(before))
            #expect(after.isDisjoint(with: dropped))
            #expect(Set(kept.map(\.providerId)).count == kept.count)
            let numbers = (target.factors + plan.movedFactors).compactMap(\.target)
            #expect(Set(numbers) == Set((target.factors + source.factors).compactMap(\.target)))
            #expect(Set(numbers).count == numbers.count)
            #expect(dropped.isEmpty || !plan.conflicts.isEmpty)
        }
    }
}
