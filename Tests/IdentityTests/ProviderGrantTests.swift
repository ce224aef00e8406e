import JSON
import Testing

@testable import Accounts

/// What is done about a provider's access token that is asked for.
@Suite struct ProviderGrantTests {
    static func grant(
        _ expiresAt: Int64?, refresh: String? = "r", refusal: String? = nil, obtainedAt: Int64 = 0, source: String = "https://a shop"
    ) -> ProviderGrant {
        ProviderGrant(
            source: source, accessToken: "a", refreshToken: refresh, expiresAt: expiresAt, scopes: ["openid"], obtainedAt: obtainedAt,
            refusal: refusal)
    }

    @Test(
        "a token serves for as long as was asked for, else it is refreshed, where that can be",
        arguments: [
            (grant(1300), .serves), (grant(1299), .refresh(with: "r")), (grant(999), .refresh(with: "r")),
            (grant(nil, refresh: nil), .serves), (grant(1299, refresh: nil), .expired(at: 1299)),
            (grant(1300, refresh: nil, refusal: "no"), .serves), (grant(1299, refresh: nil, refusal: "no"), .refused("no")),
            // Nothing better is to be had of a provider that has just given it.
            (grant(1001, obtainedAt: 991), .serves), (grant(1001, obtainedAt: 990), .refresh(with: "r")),
            (grant(1000, obtainedAt: 999), .refresh(with: "r")),
        ] as [(ProviderGrant, ProviderGrant.Decision)])
    func decisions(_ grant: ProviderGrant, _ decision: ProviderGrant.Decision) {
        #expect(grant.decide(for: 300, at: 1000) == decision)
    }

    @Test("a refresh token stays good until another one comes, from the same provider for the same client")
    func following() {
        let old = Self.grant(10, refresh: "old", obtainedAt: 5)
        #expect(Self.grant(20, refresh: "new", obtainedAt: 6).following(old).refreshToken == "new")
        #expect(Self.grant(20, refresh: nil, obtainedAt: 6).following(old).refreshToken == "old")
        #expect(Self.grant(20, refresh: nil, obtainedAt: 6, source: "https://b shop").following(old).refreshToken == nil)
        // A clock may have been set back; but what is shown a second time, by a pending token, takes no newer one's place.
        #expect(Self.grant(20, refresh: "new", obtainedAt: 4).following(old).refreshToken == "new")
        var again = Self.grant(20, refresh: "new", obtainedAt: 4)
        again.cameBefore = true
        #expect(again.following(old) == old)
        #expect(Self.grant(20, refresh: nil).following(nil).refreshToken == nil)
    }

    @Test("what token endpoints answer, in the ways that they write it")
    func answers() throws {
        func read(_ text: String) throws -> ProviderGrant? {
            ProviderGrant(try JSONText(text).root, asked: "openid email", from: "s", at: 100)
        }
        #expect(try read(#"{"access_token": "a", "expires_in": 60}"#)?.expiresAt == 160)
        #expect(try read(#"{"access_token": "a", "expires_in": "60"}"#)?.expiresAt == 160)
        #expect(try read(#"{"access_token": "a", "expires_in": -5}"#)?.expiresAt == 100)
        #expect(try read(#"{"access_token": "a", "expires_in": 9000000000000000000}"#)?.expiresAt == 100 + 315_360_000)
        #expect(try read(#"{"access_token": "a", "scope": "repo,user"}"#)?.scopes == ["repo", "user"])
        #expect(try read(#"{"access_token": "a"}"#)?.scopes == ["openid", "email"])
        #expect(try read(#"{"id_token": "i"}"#) == nil)
        let whole = try #require(try read(#"{"access_token": "a", "refresh_token": "r", "expires_in": 60, "scope": "x"}"#))
        #expect(ProviderGrant(whole.object) == whole)
    }
}
