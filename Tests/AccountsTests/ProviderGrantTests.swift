import JSON
import Testing

@testable import Accounts

/// The decision to return, refresh or reject a stored provider access token.
@Suite struct ProviderGrantTests {
    static func grant(
        _ expiresAt: Int64?, refresh: String? = "r", refusal: String? = nil, obtainedAt: Int64 = 0, source: String = "https://a shop"
    ) -> ProviderGrant {
        ProviderGrant(
            source: source, accessToken: "a", refreshToken: refresh, expiresAt: expiresAt, scopes: ["openid"], obtainedAt: obtainedAt,
            refusal: refusal)
    }

    @Test(
        "a token is returned if it is valid for the requested time, otherwise it is refreshed if possible",
        arguments: [
            (grant(1300), .serves), (grant(1299), .refresh(with: "r")), (grant(999), .refresh(with: "r")),
            (grant(nil, refresh: nil), .serves), (grant(1299, refresh: nil), .expired(at: 1299)),
            (grant(1300, refresh: nil, refusal: "no"), .serves), (grant(1299, refresh: nil, refusal: "no"), .refused("no")),
            // A token that was issued less than 10 seconds ago and has not expired is not refreshed.
            (grant(1001, obtainedAt: 991), .serves), (grant(1001, obtainedAt: 990), .refresh(with: "r")),
            (grant(1000, obtainedAt: 999), .refresh(with: "r")),
        ] as [(ProviderGrant, ProviderGrant.Decision)])
    func decisions(_ grant: ProviderGrant, _ decision: ProviderGrant.Decision) {
        #expect(grant.decide(for: 300, at: 1000) == decision)
    }

    @Test("a refresh token is kept until the same provider issues another one for the same client")
    func following() {
        let old = Self.grant(10, refresh: "old", obtainedAt: 5)
        #expect(Self.grant(20, refresh: "new", obtainedAt: 6).following(old).refreshToken == "new")
        #expect(Self.grant(20, refresh: nil, obtainedAt: 6).following(old).refreshToken == "old")
        #expect(Self.grant(20, refresh: nil, obtainedAt: 6, source: "https://b shop").following(old).refreshToken == nil)
        // An earlier time can result from a clock that was set back. A repeated grant from a pending token never
        // replaces a newer one.
        #expect(Self.grant(20, refresh: "new", obtainedAt: 4).following(old).refreshToken == "new")
        var again = Self.grant(20, refresh: "new", obtainedAt: 4)
        again.cameBefore = true
        #expect(again.following(old) == old)
        #expect(Self.grant(20, refresh: nil).following(nil).refreshToken == nil)
    }

    @Test("token responses are parsed in all common notations")
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
