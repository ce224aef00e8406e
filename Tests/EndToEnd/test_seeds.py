"""Seeded randomness: with the same seed, a long sequence of calls returns the same results byte for byte."""

import re
import unittest

import pyotp

from endtoend import SIGNED, EndToEnd, only
from test_logins import Provider

NOW = 1700000000
PASSWORD, OTHER = "correct Horse 9", "battery Staple 8"


class Story:
    """A sequence of calls, and the result of each."""

    def __init__(self, sidecar, provider_token, jwk):
        self.sidecar, self.provider_token, self.jwk = sidecar, provider_token, jwk
        self.answers = []

    def call(self, method, /, **params):
        answer = self.sidecar.call(method, params)
        self.answers.append((method, answer))
        return answer

    def code(self, name):
        return [each for each in self.call("test.outbox", to=name)["messages"] if "code" in each][-1]["code"]

    def tell(self, seed):
        self.sidecar.call("test.seed", {"seed": seed})
        self.call("tenant.create", tenantId="shop")
        self.call("tenant.update", tenantId="shop", anonymousAllowed=True, mfa="optional")
        self.people()
        self.pools()
        self.providers()
        self.factors()
        self.call("compat.http", method="POST", url="/", headers={
            **SIGNED, "X-Amz-Target": "AWSCognitoIdentityService.GetId", "Content-Type": "application/x-amz-json-1.1"}, body="{}")
        self.call("account.export", tenantId="shop", includeSecrets=True)
        self.call("audit.list", limit=60)
        self.call("audit.verify")
        return self.answers

    def people(self):
        for method in ("signUp", "passwordReset"):
            step = self.call(f"{method}.start", tenantId="shop", username="alice@example.com", **({"password": PASSWORD} if method == "signUp" else {}))
            step = self.call(f"{method}.resendCode", continuationToken=step["continuationToken"])
            step = self.call(f"{method}.submitCode", continuationToken=step["continuationToken"], code=self.code("alice@example.com"))
            if step["state"] == "passwordRequired":
                step = self.call(f"{method}.submitPassword", continuationToken=step["continuationToken"], password=OTHER)
            self.signed_in = self.call("signIn.withContinuation", continuationToken=step["continuationToken"])
        step = self.call("signIn.start", tenantId="shop", username="alice@example.com")
        self.call("signIn.submitPassword", continuationToken=step["continuationToken"], password=OTHER)
        self.call("signIn.withPassword", tenantId="shop", username="alice@example.com", password=OTHER)
        self.call("signIn.anonymously", tenantId="shop")
        refreshed = self.call("session.refresh", refreshToken=self.signed_in["refreshToken"])
        self.token = refreshed["idToken"]
        self.call("session.list", accountId=self.signed_in["account"]["accountId"])
        self.call("account.create", tenantId="shop", username="bob@example.com", password=PASSWORD, emailVerified=True)
        self.call("account.changeEmail", idToken=self.token, email="alice@example.org")
        self.call("test.token", issuer="https://testing.mintmark.localhost/tenants/shop", subject="s", audience="shop", use="access")

    def pools(self):
        pool = self.call(
            "pool.create", name="shop", developerProvider="login.shop", allowUnauthenticated=True, allowClassicFlow=True,
            providers=[{"tenantId": "shop"}])["poolId"]
        role = self.call("role.put", name="reader", poolId=pool)["roleArn"]
        self.call("pool.setRoles", poolId=pool, roles={"authenticated": role})
        token = self.call("token.mintForDeveloper", poolId=pool, logins={"login.shop": "alice"})
        self.call("token.mintForDeveloper", poolId=pool, logins={"login.shop": "alice"})
        self.call("identity.resolve", poolId=pool)
        self.call("identity.resolve", poolId=pool, logins={"testing.mintmark.localhost/tenants/shop": self.token})
        credentials = self.call("credentials.get", token=token["token"])["credentials"]
        self.call("credentials.verify", sessionToken=credentials["sessionToken"])
        self.call("credentials.assumeRole", roleArn=role, sessionName="reader", token=token["token"])
        provider = self.call("credentialsProvider.open", poolId=pool, logins={"login.shop": "alice"})["provider"]
        self.call("credentialsProvider.get", provider=provider)
        for algorithm in ("EdDSA", "RS256"):
            other = self.call("pool.create", name=algorithm, developerProvider="login.shop", signingAlgorithm=algorithm)["poolId"]
            self.call("token.mintForDeveloper", poolId=other, logins={"login.shop": "alice"})
        self.call("test.token", issuer="https://testing.mintmark.localhost/tenants/shop", subject="s", audience="shop", keyState="wrong")
        self.call("key.rotate", poolId=pool)
        self.call("key.list", poolId=pool)
        self.call("token.jwks")

    def providers(self):
        self.call("idp.create", tenantId="shop", providerId="oidc.work", clientId="shop", clientSecret="secret", issuer="https://oidc.work.example.com", keys=[self.jwk])
        step = self.call("signIn.withCredential", tenantId="shop", credential={"providerId": "oidc.work", "idToken": self.provider_token})
        assert step["state"] == "providerRequired", step
        bob = self.call("signIn.withPassword", tenantId="shop", username="bob@example.com", password=PASSWORD)
        self.call("account.link", idToken=bob["idToken"], credential={"pendingToken": step["pendingToken"]})
        self.call("idp.create", tenantId="shop", providerId="github.com", clientId="shop", clientSecret="secret")
        self.call("idp.authorize", tenantId="shop", providerId="github.com", redirectUri="https://shop.example.com/back")
        heard = self.call("idp.authorize", tenantId="shop", providerId="github.com", listen={})
        # The free port is not predictable.
        for name in ("authorizationUrl", "redirectUri"):
            heard[name] = re.sub(r"127\.0\.0\.1(:|%3A)\d+", "127.0.0.1", heard[name])

    def factors(self):
        step = self.call("mfa.enroll", idToken=self.token, kind="totp")
        app = pyotp.TOTP(step["secret"])
        done = self.call("mfa.confirm", continuationToken=step["continuationToken"], code=app.at(NOW))
        self.call("mfa.recoveryCodes", idToken=done["idToken"])
        step = self.call("signIn.withPassword", tenantId="shop", username="alice@example.com", password=OTHER)
        factor = step["hints"][0]["factorId"]
        self.call("mfa.resolve", continuationToken=step["continuationToken"], factorId=factor, code=app.at(NOW, 1))


class Seeds(EndToEnd):
    def setUp(self):
        super().setUp()
        provider = Provider("https://oidc.work.example.com")
        token = provider.token("bob", aud="shop", iat=NOW, exp=NOW + 600, email="bob@example.com", email_verified=False)
        self.provider = (token, provider.jwk)

    def told(self, seed, **more):
        return Story(self.spawn("--testing", "--clock", str(NOW), **more), *self.provider).tell(seed)

    def same(self, one, other):
        for left, right in zip(one, other, strict=True):
            self.assertEqual(left, right)

    def test_same_seed_in_another_process_repeats_all_results(self):
        self.same(self.told("seven"), self.told("seven"))

    def test_same_seed_after_a_reset_repeats_all_results(self):
        sidecar = self.spawn("--testing", "--clock", str(NOW))
        one = Story(sidecar, *self.provider).tell("seven")
        sidecar.call("test.reset")
        self.same(one, Story(sidecar, *self.provider).tell("seven"))

    @only("sqlite")
    def test_same_seed_with_another_master_key_repeats_all_results(self):
        self.same(self.told("seven", store=self.path("a.db")), self.told("seven", store=self.path("b.db")))

    def test_another_seed_changes_all_random_values(self):
        def made(seed):
            """Returns the random values in the results: long strings with letters and digits."""
            found = set(re.findall(r"[A-Za-z0-9_-]{20,}", str(self.told(seed))))
            return {each for each in found if re.search(r"[0-9]", each) and re.search(r"[A-Za-z]", each) and each not in self.given}
        self.given = set(re.findall(r"[A-Za-z0-9_-]{20,}", str(self.provider)))
        one, other = made("seven"), made("eight")
        self.assertGreater(len(one), 80)
        self.assertEqual({each for each in one & other if not each.startswith("eyJ")}, set(), "headers of tokens alone are the same")

    def test_reused_seed_continues_its_sequence(self):
        sidecar = self.spawn("--testing", "--clock", str(NOW))

        def make(seed):
            sidecar.call("test.seed", {"seed": seed})
            pool = sidecar.call("pool.create", {"name": "shop", "developerProvider": "login.shop"})
            token = sidecar.call("token.mintForDeveloper", {"poolId": pool["poolId"], "logins": {"login.shop": "alice"}})
            sidecar.call("tenant.create", {"tenantId": f"t{len(made)}"})
            made.append((pool["poolId"], token["identityId"], sidecar.call("key.list", {"poolId": pool["poolId"]})["keys"][0]["kid"]))
        made = []
        for seed in ("one", "one", "other", "one", "other"):
            make(seed)
        for each in zip(*made):
            self.assertEqual(len(set(each)), 5, each)
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        first, made = made[0], []
        sidecar.call("test.reset")
        make("one")
        self.assertEqual(made[0], first)

    def test_restored_snapshot_continues_the_sequence_of_its_seed(self):
        sidecar = self.spawn("--testing", "--clock", str(NOW))
        story = Story(sidecar, *self.provider)
        story.sidecar.call("test.seed", {"seed": "seven"})
        story.call("tenant.create", tenantId="shop")
        story.call("tenant.update", tenantId="shop", anonymousAllowed=True)
        sidecar.call("test.snapshot", {"file": self.path("state")})
        told = []
        for each in (sidecar, self.spawn("--testing"), self.spawn("--testing")):
            if each is not sidecar:
                each.call("test.restore", {"file": self.path("state")})
            story = Story(each, *self.provider)
            story.people()
            story.pools()
            told.append(story.answers)
        self.same(told[0], told[1])
        self.same(told[1], told[2])


if __name__ == "__main__":
    unittest.main()
