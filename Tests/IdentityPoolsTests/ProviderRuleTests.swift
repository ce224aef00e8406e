import Contract
import Testing

@testable import IdentityPools

private let held = CachedCredentials.Held(
    identityId: "a", credentials: .init(accessKeyId: "k", secretAccessKey: "s", sessionToken: "t", expiresAt: 10_000), roleArn: "r")

private let social: Members<String> = ["login.example.com": "token"]
private let own: Members<String> = ["login.shop": "alice"]

/// The next step of a provider that renews credentials ten minutes before they expire.
private func step(
    _ request: ProviderRule.Request, _ memory: CachedCredentials, at now: Int64 = 0, kept: String? = nil, asksCaller: Bool = false
) -> ProviderRule.Step {
    ProviderRule.step(
        request, memory,
        .init(
            phase: ProviderRule.phase(memory, now: now, refreshAheadSeconds: 600), kept: kept, developerProvider: "login.shop",
            asksCaller: asksCaller))
}

private func memory(_ logins: Members<String> = [:], _ change: (inout CachedCredentials) -> Void = { _ in }) -> CachedCredentials {
    var memory = CachedCredentials(logins: logins)
    change(&memory)
    return memory
}

/// The states and events of a credentials provider.
@Suite("the next step of a credentials provider")
struct ProviderRuleTests {
    @Test(
        "credentials are ready, then expiring, then expired, to the second",
        arguments: [(9399, .ready), (9400, .expiring), (9999, .expiring), (10_000, .expired)] as [(Int64, ProviderRule.Phase)])
    func phases(now: Int64, phase: ProviderRule.Phase) {
        #expect(ProviderRule.phase(memory { $0.hold(held) }, now: now, refreshAheadSeconds: 600) == phase)
        #expect(ProviderRule.phase(memory(), now: now, refreshAheadSeconds: 600) == .none)
    }

    @Test("a request for credentials in the ready state returns the cached ones, whatever the logins")
    func ready() {
        for logins in [[:], social, own] { #expect(step(.credentials(anew: false), memory(logins) { $0.hold(held) }) == .answer(held)) }
    }

    @Test(
        "a request for credentials otherwise refreshes them with the logins",
        arguments: [([:], .guest), (social, .publicLogins), (own, .developer)] as [(Members<String>, ProviderRule.Source)])
    func refresh(logins: Members<String>, source: ProviderRule.Source) {
        #expect(step(.credentials(anew: false), memory(logins), kept: "a") == .refresh(source))
        #expect(step(.credentials(anew: false), memory(logins) { $0.hold(held) }, at: 9400) == .refresh(source))
        #expect(step(.credentials(anew: true), memory(logins) { $0.hold(held) }) == .refresh(source))
    }

    @Test("mixed logins use the developer flow, unless the pool has no developer provider")
    func mixed() {
        let both: Members<String> = ["login.example.com": "token", "login.shop": "alice"]
        #expect(ProviderRule.source(of: both, developerProvider: "login.shop") == .developer)
        #expect(ProviderRule.source(of: both, developerProvider: nil) == .publicLogins)
    }

    @Test("only developer logins are requested from the caller's backend")
    func asking() {
        let request = ProviderRule.Request.credentials(anew: false)
        #expect(step(request, memory(own), asksCaller: true) == .ask(.noCredentials))
        #expect(step(request, memory(own) { $0.hold(held) }, at: 9400, asksCaller: true) == .ask(.expiring))
        #expect(step(request, memory(own) { $0.hold(held) }, at: 10_000, asksCaller: true) == .ask(.expired))
        #expect(step(.credentials(anew: true), memory(own) { $0.hold(held) }, asksCaller: true) == .ask(.asked))
        #expect(step(.identityId, memory(own), asksCaller: true) == .ask(.noIdentity))
        #expect(step(request, memory(social), asksCaller: true) == .refresh(.publicLogins))
        #expect(step(request, memory(), asksCaller: true) == .refresh(.guest))
    }

    @Test("a request during an open token request returns that request, even if credentials are cached")
    func joining() {
        var asked = memory(own) { $0.hold(held) }
        asked.ask(.asked, continuationToken: "c")
        #expect(step(.credentials(anew: false), asked, asksCaller: true) == .ask(.asked))
        asked.ask(.expired, continuationToken: "d")
        #expect(asked.awaited == .init(continuationToken: "c", reason: .asked))
        #expect(step(.identityId, asked, kept: "a", asksCaller: true) == .tell(identityId: "a"))
    }

    @Test("a request for the identity ID returns the stored ID, otherwise it resolves the ID")
    func identityId() {
        #expect(step(.identityId, memory(social), kept: "a") == .tell(identityId: "a"))
        #expect(step(.identityId, memory(social)) == .refresh(.publicLogins))
    }

    @Test("setLogins discards credentials and the open token request, and causes a stored ID to be resolved again")
    func setLogins() {
        var changed = memory(own) { $0.identityId = "a" }
        changed.hold(held)
        changed.ask(.asked, continuationToken: "c")
        changed.setLogins(social)
        #expect(changed.held == nil && changed.awaited == nil && changed.identityId == "a")
        #expect(step(.identityId, changed, kept: "a") == .refresh(.publicLogins))
        #expect(changed.identify("a") == nil)
        #expect(step(.identityId, changed, kept: "a") == .tell(identityId: "a"))
        var fresh = memory()
        fresh.setLogins(social)
        #expect(!fresh.mustLookAgain)
    }

    @Test("dropCredentials keeps identity and logins, and dropAll keeps nothing")
    func clearing() {
        var cleared = memory(social) { $0.identityId = "a" }
        cleared.hold(held)
        cleared.dropCredentials()
        #expect(cleared == memory(social) { $0.identityId = "a" })
        cleared.hold(held)
        cleared.dropAll()
        #expect(cleared == CachedCredentials(logins: [:]))
    }

    @Test("a change of the identity returns the previous ID, and the first identity is not a change")
    func identify() {
        var changing = memory()
        #expect(changing.identify("a") == nil)
        #expect(changing.identify("a") == nil)
        #expect(changing.identify("b") == "a")
        #expect(changing.identityId == "b")
    }

    @Test("the token that produced the credentials is stored until the next token request")
    func answered() {
        var asked = memory(own)
        asked.ask(.noCredentials, continuationToken: "c")
        asked.hold(held, for: "t")
        #expect(asked.answered == .init(continuationToken: "c", token: "t") && asked.awaited == nil)
        asked.ask(.expiring, continuationToken: "d")
        #expect(asked.answered == nil)
    }

    /// The errors after which the stored ID is discarded.
    static let refusals: [(error: any ContractError, asGuest: Bool, hasLogins: Bool, givesUp: Bool)] = [
        (IdentityNotFound(identityId: "a"), true, false, true), (IdentityNotFound(identityId: "a"), false, true, true),
        (IdentityDisabled(identityId: "a"), true, false, false), (IdentityDisabled(identityId: "a"), false, true, true),
        (IdentityForbidden(identityId: "a"), false, false, false), (LoginsDoNotMatch(identityId: "a"), false, true, false),
        (DeveloperUserAlreadyRegistered(provider: "p", identityId: "a"), true, true, true),
        (DeveloperUserAlreadyRegistered(provider: "p", identityId: "a"), false, true, false),
        (UnauthenticatedNotAllowed(poolId: "p"), true, false, false), (StoreBusy(retryAfterSeconds: 1), true, true, false),
    ]

    @Test("a rejected stored identity is discarded if this cannot link users unintentionally", arguments: refusals)
    func givesUp(error: any ContractError, asGuest: Bool, hasLogins: Bool, givesUp: Bool) {
        #expect(ProviderRule.givesUp(keptAsGuest: asGuest, after: error, hasLogins: hasLogins) == givesUp)
    }
}
