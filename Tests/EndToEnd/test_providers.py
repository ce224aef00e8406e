"""Login providers on the network: an OpenID provider from another project, and providers with all kinds of faults."""

import json
import os
import time
import urllib.parse

from jwt.algorithms import RSAAlgorithm

from endtoend import EndToEnd
from oidcmock import OIDCProviderMock
from rsakeys import rsa_key
from sidecar import RpcError, run
from test_logins import claims_of
from websites import DISCOVERY, KEYS, Authority, OpenIDWebsite, Proxy, Website, html, page, redirect


class Providers(EndToEnd):
    def serve(self, kind=OpenIDWebsite, *arguments, **more):
        """Starts a web server that is closed after the test."""
        site = kind(*arguments, **more)
        self.addCleanup(site.close)
        return site

    def pool(self, sidecar, *settings, **more):
        return sidecar.call("pool.create", {"name": "shop", "allowClassicFlow": True, "developerProvider": "login.shop", "providers": list(settings), **more})["poolId"]

    def login(self, sidecar, pool, site, token=None, name=None):
        return sidecar.call("identity.resolve", {"poolId": pool, "logins": {name or site.name: token or site.token()}})

    def fails(self, wanted, check, sidecar, pool, site, token=None, says=""):
        """Checks that a login fails with a reason other than the time limit, and creates no identity."""
        error = self.refused(wanted, sidecar, "identity.resolve", {"poolId": pool, "logins": {site.name: token or site.token()}})
        self.assertNotIn("did not respond", error.message)
        self.assertEqual((error.data["provider"], error.data.get("check")), (site.name, check), error)
        self.assertIn(says, error.message)
        self.assertEqual(sidecar.call("identity.list", {"poolId": pool})["identities"], [])
        return error


class RealProvider(Providers):
    """oidc-provider-mock, an OpenID provider from another project."""

    def setUp(self):
        super().setUp()
        self.provider = OIDCProviderMock(self, {"sub": "alice", "email": "alice@example.com"})
        self.issuer = self.provider.issuer

    def sign_in(self, client):
        return self.provider.sign_in(client)["id_token"]

    def test_id_token_resolves_to_an_identity_a_token_and_credentials(self):
        sidecar, token = self.spawn(testing=True), self.sign_in("shop")
        pool = self.pool(sidecar, {"issuer": self.issuer, "clientIds": ["shop"]})
        role = sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
        sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        logins = {self.issuer.split("://")[1]: token}
        identity = sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["identityId"]
        minted = sidecar.call("token.mint", {"identityId": identity, "logins": logins})
        self.assertEqual(minted["identityId"], identity)
        self.assertTrue(claims_of(minted["token"])["amr"][-1].endswith(":OIDC:alice"))
        bought = sidecar.call("credentials.get", {"identityId": identity, "logins": logins})
        self.assertEqual((bought["identityId"], bought["roleArn"]), (identity, role))
        both = sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {**logins, "login.shop": "alice"}})
        self.assertEqual(both["identityId"], identity)
        for_other = self.sign_in("other")
        error = self.refused("loginTokenInvalid", sidecar, "identity.resolve", {"poolId": pool, "logins": {**logins, next(iter(logins)): for_other}})
        self.assertEqual(error.data["check"], "audience")

    def test_http_issuer_requires_allow_insecure_outside_of_testing_stores(self):
        sidecar, settings = self.spawn(), {"issuer": self.issuer, "clientIds": ["shop"]}
        error = self.refused("invalidPoolProvider", sidecar, "pool.create", {"name": "shop", "providers": [settings]})
        self.assertIn("allowInsecure", error.message)
        pool = self.pool(sidecar, {**settings, "allowInsecure": True})
        logins = {self.issuer.split("://")[1]: self.sign_in("shop")}
        self.assertTrue(sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["isNewIdentity"])
        self.refused("invalidPoolProvider", sidecar, "pool.create", {"name": "shop", "providers": [{"issuer": "http://login.example.com", "clientIds": ["a"], "allowInsecure": True}]})


class Keys(Providers):
    """Which keys are fetched, how often, and how long they are cached."""

    def setUp(self):
        super().setUp()
        self.site = self.serve()
        self.sidecar = self.spawn(testing=True)
        self.shop = self.pool(self.sidecar, self.site.settings())

    def test_concurrent_logins_fetch_the_keys_once(self):
        self.site.pages[KEYS] = held = self.site.held(self.site.pages[KEYS])
        ids = [self.sidecar.send("identity.resolve", {"poolId": self.shop, "logins": {self.site.name: self.site.token(f"user {n}")}}) for n in range(200)]
        self.site.wait_until_asked(KEYS)
        self.settled(self.sidecar)
        held.release()
        identities = {self.sidecar.answer(id)["identityId"] for id in ids}
        self.assertEqual(len(identities), 200)
        self.assertEqual(self.site.asked, [DISCOVERY, KEYS])

    def test_credentials_provider_shares_a_pending_fetch(self):
        role = self.sidecar.call("role.put", {"name": "reader", "poolId": self.shop})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": self.shop, "roles": {"authenticated": role}})
        logins = {self.site.name: self.site.token()}
        handle = self.sidecar.call("credentialsProvider.open", {"poolId": self.shop, "logins": logins})["provider"]
        self.site.pages[KEYS] = held = self.site.held(self.site.pages[KEYS])
        ids = [self.sidecar.send("identity.resolve", {"poolId": self.shop, "logins": logins})]
        self.site.wait_until_asked(KEYS)
        ids += [self.sidecar.send("credentialsProvider.get", {"provider": handle}) for _ in range(20)]
        self.settled(self.sidecar)
        held.release()
        self.assertEqual(len({self.sidecar.answer(id)["identityId"] for id in ids}), 1)
        self.assertEqual(self.site.asked, [DISCOVERY, KEYS])

    def test_unknown_kid_fetches_the_keys_again_at_most_eight_times(self):
        self.login(self.sidecar, self.shop, self.site)

        def refused(wanted, kid):
            return self.refused(wanted, self.sidecar, "identity.resolve", {"poolId": self.shop, "logins": {self.site.name: self.site.token(kid=kid)}})
        for n in range(8):
            for _ in range(2):
                self.assertEqual(refused("loginTokenInvalid", f"k{n}").data["check"], "signature")
            self.assertEqual(self.site.count(KEYS), 2 + n)
        for n in range(8, 20):
            self.assertGreater(refused("providerUnavailable", f"k{n}").data["retryAfterSeconds"], 0)
        self.assertEqual(self.site.count(KEYS), 9)
        self.login(self.sidecar, self.shop, self.site)
        self.assertEqual(self.site.count(KEYS), 9)

    def test_rotated_key_is_found_immediately(self):
        identity = self.login(self.sidecar, self.shop, self.site)["identityId"]
        old = self.site.token()
        self.site.rotate("second")
        self.assertEqual(self.login(self.sidecar, self.shop, self.site)["identityId"], identity)
        self.assertEqual(self.site.count(KEYS), 2)
        self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": self.shop, "logins": {self.site.name: old}})

    def test_fetched_keys_stay_valid_if_the_provider_is_unreachable(self):
        identity = self.login(self.sidecar, self.shop, self.site)["identityId"]
        self.site.close()
        self.assertEqual(self.login(self.sidecar, self.shop, self.site)["identityId"], identity)
        self.assertEqual(self.login(self.sidecar, self.pool(self.sidecar, self.site.settings()), self.site)["isNewIdentity"], True)
        self.refused("providerUnavailable", self.sidecar, "identity.resolve", {"poolId": self.shop, "logins": {self.site.name: self.site.token(kid="unknown")}})

    def test_token_with_an_invalid_claim_causes_no_request(self):
        for token in [self.site.token(aud="other"), self.site.token(exp=1), self.site.token(iss="https://elsewhere.example")]:
            self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": self.shop, "logins": {self.site.name: token}})
        self.assertEqual(self.site.asked, [])

    def test_failed_provider_is_requested_again_after_a_pause(self):
        good = self.site.pages[KEYS]
        self.site.pages[KEYS] = page({"error": "later"}, 503)
        error = self.fails("providerUnavailable", None, self.sidecar, self.shop, self.site, says="HTTP 503")
        self.assertGreater(error.data["retryAfterSeconds"], 0)
        for _ in range(20):
            self.fails("providerUnavailable", None, self.sidecar, self.shop, self.site, says="HTTP 503")
        self.assertEqual(self.site.asked, [DISCOVERY, KEYS])
        self.site.pages[KEYS] = good
        deadline = time.monotonic() + 60
        while self.site.asked == [DISCOVERY, KEYS]:
            self.assertLess(time.monotonic(), deadline, "the pause does not end")
            try:
                self.login(self.sidecar, self.shop, self.site)
            except RpcError as refusal:
                self.assertEqual(refusal.type, "providerUnavailable")
                time.sleep(0.05)
        self.login(self.sidecar, self.shop, self.site)
        self.assertEqual(self.sidecar.finish(), 0)  # earlier log lines have been written when the process has exited
        log = self.sidecar.stderr_text()
        self.assertEqual((log.count("could not be fetched"), log.count("are available again")), (1, 1), log)

    def test_issuer_with_a_trailing_slash(self):
        site = self.serve(OpenIDWebsite)
        site.issuer += "/tenant/"
        site.pages["/tenant" + DISCOVERY], site.pages["/tenant" + KEYS] = site.pages[DISCOVERY], site.pages[KEYS]
        self.login(self.sidecar, self.pool(self.sidecar, site.settings()), site)
        self.assertEqual(site.asked, ["/tenant" + DISCOVERY, "/tenant" + KEYS])


class Misbehaviour(Providers):
    """A TLS provider whose certificate authority is added with `--ca-file`."""

    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder)
        self.site = self.serve(OpenIDWebsite, self.authority.context("127.0.0.1"))
        self.sidecar = self.spawn("--ca-file", self.authority.path)
        self.shop = self.pool(self.sidecar, self.site.settings(allowPrivateNetwork=True))

    def unusable(self, check, says="", **more):
        return self.fails("providerUnusable", check, self.sidecar, self.shop, self.site, says=says, **more)

    def test_tls_requires_the_certificate_authority(self):
        self.login(self.sidecar, self.shop, self.site)
        named = self.spawn(environment={"MINTMARK_CA_FILE": self.authority.path})
        self.login(named, self.pool(named, self.site.settings(allowPrivateNetwork=True)), self.site)
        plain = self.spawn()
        pool = self.pool(plain, self.site.settings(allowPrivateNetwork=True))
        self.fails("providerUnusable", "certificate", plain, pool, self.site, says="--ca-file")

    def test_private_address_requires_permission(self):
        pool = self.pool(self.sidecar, self.site.settings())
        self.fails("providerUnusable", "address", self.sidecar, pool, self.site, says="private")
        self.assertEqual(self.site.asked, [])

    def test_closed_port_fails(self):
        self.site.close()
        self.fails("providerUnavailable", None, self.sidecar, self.shop, self.site, says="does not accept connections")

    def test_html_as_discovery_document_fails(self):
        self.site.pages[DISCOVERY] = html()
        self.unusable("document", "not a JSON object; its type is 'text/html'")

    def test_json_with_a_duplicate_member_fails(self):
        self.site.pages[DISCOVERY] = (200, {"Content-Type": "application/json"}, b'{"issuer": "x", "issuer": "y"}')
        error = self.unusable("document", "is not valid JSON")
        self.assertNotIn("not a JSON object", error.message)

    def test_html_as_key_set_fails(self):
        self.site.pages[KEYS] = html()
        self.unusable("document", "the key set is not a JSON object")

    def test_missing_discovery_document_fails(self):
        del self.site.pages[DISCOVERY]
        self.unusable("status", "HTTP 404")

    def test_key_set_of_ten_megabytes_fails(self):
        self.site.pages[KEYS] = (200, {}, b'{"keys":[' + b" " * 10_000_000 + b"]}")
        self.unusable("tooLarge", "1048576 bytes")

    def test_redirect_to_another_host_fails(self):
        other = self.serve(OpenIDWebsite, self.authority.context("127.0.0.1"))
        self.site.pages[DISCOVERY] = redirect(other.origin + DISCOVERY)
        self.unusable("redirect", other.origin)
        self.assertEqual(other.asked, [])

    def test_redirect_of_the_keys_to_a_private_address_fails(self):
        self.site.pages[KEYS] = redirect("http://169.254.169.254/latest/meta-data/")
        self.unusable("redirect")

    def test_redirect_to_the_same_host_is_followed(self):
        self.site.pages["/elsewhere"] = self.site.pages[KEYS]
        self.site.pages[KEYS] = redirect("/elsewhere")
        self.login(self.sidecar, self.shop, self.site)

    def test_certificate_for_another_host_name_fails(self):
        site = self.serve(OpenIDWebsite, self.authority.context("elsewhere.example"))
        pool = self.pool(self.sidecar, site.settings(allowPrivateNetwork=True))
        self.fails("providerUnusable", "certificate", self.sidecar, pool, site, says="127.0.0.1")

    def test_certificate_of_another_authority_fails(self):
        site = self.serve(OpenIDWebsite, Authority(self.folder, "Stranger").context("127.0.0.1"))
        pool = self.pool(self.sidecar, site.settings(allowPrivateNetwork=True))
        self.fails("providerUnusable", "certificate", self.sidecar, pool, site)

    def test_discovery_document_of_another_issuer_fails(self):
        for issuer in [self.site.issuer + "/", self.site.issuer.upper(), "https://elsewhere.example", 7, None]:
            sidecar = self.spawn("--ca-file", self.authority.path)
            pool = self.pool(sidecar, self.site.settings(allowPrivateNetwork=True))
            self.site.pages[DISCOVERY] = page({"issuer": issuer, "jwks_uri": self.site.issuer + KEYS})
            self.fails("providerUnusable", "issuer", sidecar, pool, self.site)
        self.assertEqual(self.site.count(KEYS), 0)

    def test_discovery_document_without_keys_fails(self):
        self.site.pages[DISCOVERY] = page({"issuer": self.site.issuer})
        self.unusable("document", "jwks_uri")

    def test_two_keys_with_one_kid_fail(self):
        self.site.rotate("other", keeps=True)
        self.site.pages[KEYS] = page({"keys": [self.site.jwk("first"), self.site.jwk("other", kid="first")]})
        self.unusable("keys", "two keys with the kid 'first'")

    def test_unusable_keys_fail(self):
        first = self.site.jwk("first")
        for keys in [[], [{"kty": "oct", "k": "AAAA", "kid": "first"}], [{**first, "use": "enc"}], [{**first, "kty": "RSA"}], [{**first, "alg": "RS256"}], [{**first, "x": "AAAA"}], "first", None]:
            sidecar = self.spawn("--ca-file", self.authority.path)
            pool = self.pool(sidecar, self.site.settings(allowPrivateNetwork=True))
            self.site.pages[KEYS] = page({"keys": keys})
            self.fails("providerUnusable", "keys", sidecar, pool, self.site)

    def test_key_of_another_type_with_the_kid_of_the_token_fails(self):
        strange = RSAAlgorithm.to_jwk(rsa_key().public_key(), as_dict=True)
        self.site.pages[KEYS] = page({"keys": [{**strange, "kid": "first", "alg": "RS256"}]})
        self.fails("loginTokenInvalid", "signature", self.sidecar, self.shop, self.site)

    def test_discovery_document_cannot_name_an_internal_address(self):
        sidecar = self.spawn("--ca-file", self.authority.path, testing=True)
        inside = self.serve(Website)
        inside.pages[KEYS] = self.site.pages[KEYS](None)
        for url in [inside.origin + KEYS, "http://169.254.169.254/latest", "https://10.0.0.1/jwks", "file:///etc/passwd", "https://user:passphrase@127.0.0.1/"]:
            site = self.serve(OpenIDWebsite, self.authority.context("127.0.0.1"))
            site.pages[DISCOVERY] = page({"issuer": site.issuer, "jwks_uri": url})
            error = self.fails("providerUnusable", "address", sidecar, self.pool(sidecar, site.settings()), site)
            self.assertNotIn("passphrase", error.message)
        self.assertEqual(inside.asked, [])

    def test_proxy_is_used_except_for_this_machine(self):
        site = self.serve(OpenIDWebsite, self.authority.context("login.example.test"), "https://login.example.test")
        proxy = self.serve(Proxy, site.port)
        for options, environment in [(["--proxy", proxy.origin], {}), ([], {"MINTMARK_PROXY": proxy.origin})]:
            sidecar = self.spawn("--ca-file", self.authority.path, *options, environment=environment)
            self.login(sidecar, self.pool(sidecar, site.settings()), site)
            self.login(sidecar, self.pool(sidecar, self.site.settings(allowPrivateNetwork=True)), self.site)
        self.assertEqual(proxy.connected, ["login.example.test:443"] * 2)
        self.assertEqual(self.site.count(KEYS), 2)


class Hanging(Providers):
    """A provider that accepts connections and does not respond."""

    def setUp(self):
        super().setUp()
        self.site, self.other = self.serve(), self.serve()
        self.description = page({"issuer": self.site.issuer, "jwks_uri": self.site.issuer + KEYS})
        self.site.pages[DISCOVERY] = self.held = self.site.held(self.description)
        self.open()

    def open(self, **more):
        self.sidecar = self.spawn(testing=True, **more)
        self.shop = self.pool(self.sidecar, self.site.settings(), self.other.settings())

    def hang(self, count=1):
        ids = [self.sidecar.send("identity.resolve", {"poolId": self.shop, "logins": {self.site.name: self.site.token()}}) for _ in range(count)]
        self.site.wait_until_asked(DISCOVERY)
        return ids

    def test_hanging_provider_does_not_delay_others(self):
        """The other providers respond while 200 logins wait for the one that hangs."""
        self.login(self.sidecar, self.shop, self.other)
        ids = self.hang(200)
        for n in range(5):
            self.works(self.sidecar)
            self.login(self.sidecar, self.shop, self.other, self.other.token(f"user {n}"))
        third = self.serve()
        self.login(self.sidecar, self.pool(self.sidecar, third.settings()), third)
        self.assertEqual(self.sidecar.arrived(), 0)
        self.held.release()
        self.assertEqual(len({self.sidecar.answer(id)["identityId"] for id in ids}), 1)
        self.assertEqual(self.site.asked, [DISCOVERY, KEYS])

    def test_hanging_provider_times_out_once_for_all_calls(self):
        self.open(environment={"MINTMARK_PROVIDER_TIMEOUT": "1"})
        for id in self.hang(200):
            with self.assertRaises(RpcError) as caught:
                self.sidecar.answer(id)
            self.assertEqual(caught.exception.type, "providerUnavailable")
            self.assertIn("did not respond within 1 s", caught.exception.message)
        self.assertEqual(self.site.asked, [DISCOVERY])

    def test_canceled_call_does_not_affect_calls_that_share_the_fetch(self):
        first = self.hang()[0]
        second = self.sidecar.send("identity.resolve", {"poolId": self.shop, "logins": {self.site.name: self.site.token()}})
        self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % first)
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(first)
        self.assertEqual(caught.exception.code, -32800)
        self.assertEqual(self.sidecar.arrived(), 0)
        self.held.release()
        self.assertTrue(self.sidecar.answer(second)["isNewIdentity"])

    def test_hanging_provider_does_not_prevent_exit(self):
        ids = self.hang(3)
        self.sidecar.signal()
        self.assertEqual(self.sidecar.wait(), 0)
        for id in ids:
            with self.assertRaises(RpcError) as caught:
                self.sidecar.answer(id)
            self.assertEqual(caught.exception.type, "shuttingDown")

    def test_sequential_option_keeps_the_order_of_responses(self):
        sidecar = self.spawn("--sequential", testing=True)
        pool = self.pool(sidecar, self.site.settings())
        first = sidecar.send("identity.resolve", {"poolId": pool, "logins": {self.site.name: self.site.token()}})
        self.site.wait_until_asked(DISCOVERY)
        second = sidecar.send("system.ping")
        self.settled(sidecar)
        self.held.release()
        self.assertEqual([sidecar.receive()["id"], sidecar.receive()["id"]], [first, second])


class AccessTokens(Providers):
    """Facebook and Login with Amazon, with responses as in their documentation."""

    def setUp(self):
        super().setUp()
        self.site = self.serve(Website)
        self.sidecar = self.spawn(testing=True)

    def rejected(self, pool, name, token, check):
        error = self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {name: token}})
        self.assertEqual(error.data["check"], check, error)

    @staticmethod
    def by_token(answers):
        def answer(handler):
            token = urllib.parse.parse_qs(urllib.parse.urlparse(handler.path).query).get("access_token", [""])[0]
            return answers.get(token) or page({"error": {"message": "Invalid OAuth access token.", "type": "OAuthException", "code": 190}}, 400)
        return answer

    def test_facebook_access_token(self):
        name = "graph.facebook.com"
        self.site.pages["/v23.0/app"] = self.by_token({"EA+A/=": page({"id": "17"}), "other": page({"id": "18"}), "app": page({"id": "17"}), "busy": page({"error": {"code": 4}}, 400)})
        self.site.pages["/v23.0/me"] = self.by_token({"EA+A/=": page({"id": "1001"}), "other": page({"id": "1001"}), "app": page({"error": {"code": 2500}}, 400)})
        pool = self.pool(self.sidecar, {"provider": name, "clientIds": ["17"], "endpoint": self.site.origin + "/v23.0/"})
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {name: "EA+A/="}})["identityId"]
        token = self.sidecar.call("token.mint", {"identityId": identity, "logins": {name: "EA+A/="}})["token"]
        self.assertEqual(claims_of(token)["amr"], ["authenticated", name, f"{name}:17:1001"])
        self.rejected(pool, name, "other", "audience")
        self.rejected(pool, name, "forged", "signature")
        self.rejected(pool, name, "app", "signature")
        self.refused("providerUnavailable", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {name: "busy"}})

    def test_amazon_access_token(self):
        name, client = "www.amazon.com", "amzn1.application-oa2-client.5"
        facts = {"iss": "https://www.amazon.com", "user_id": "amzn1.account.K2", "aud": client, "app_id": "amzn1.application.9", "exp": 3597, "iat": 1}
        self.site.pages["/auth/o2/tokeninfo"] = self.by_token({"Atza|good": page(facts), "other": page({**facts, "aud": "x"}), "late": page({**facts, "exp": 0}), "nobody": page({**facts, "user_id": ""}), "nul": page({**facts, "user_id": "a\0b"}), "evil": page({**facts, "iss": "https://evil"}), "mute": page({**facts, "iss": None})})
        pool = self.pool(self.sidecar, {"provider": name, "clientIds": [client], "endpoint": self.site.origin})
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {name: "Atza|good"}})["identityId"]
        token = self.sidecar.call("token.mint", {"identityId": identity, "logins": {name: "Atza|good"}})["token"]
        self.assertEqual(claims_of(token)["amr"], ["authenticated", name, f"{name}:{client}:amzn1.account.K2"])
        for bad, check in [("other", "audience"), ("late", "expired"), ("nobody", "subject"), ("nul", "subject"), ("forged", "signature"), ("evil", "issuer"), ("mute", "issuer")]:
            self.rejected(pool, name, bad, check)

    def many(self, sidecar, count, *settings):
        """Sends logins with different access tokens to a token endpoint that does not respond. Returns their request IDs and the pool."""
        self.site.pages["/auth/o2/tokeninfo"] = self.held = self.site.held(
            lambda handler: page({"iss": "https://www.amazon.com", "user_id": handler.path[-3:], "aud": "a"}))
        name = "www.amazon.com"
        pool = self.pool(sidecar, {"provider": name, "clientIds": ["a"], "endpoint": self.site.origin}, *settings)
        return [sidecar.send("identity.resolve", {"poolId": pool, "logins": {name: f"token{n:03}"}}) for n in range(count)], pool

    def test_hanging_token_endpoint_gets_16_requests_and_does_not_delay_others(self):
        issuer = self.serve()
        ids, pool = self.many(self.sidecar, 200, issuer.settings())
        self.site.wait_until_asked("/auth/o2/tokeninfo", 16)
        self.login(self.sidecar, pool, issuer)
        self.works(self.sidecar)
        self.settled(self.sidecar)
        self.assertEqual((self.sidecar.arrived(), len(self.site.asked)), (0, 16))
        self.held.release()
        self.assertEqual(len({self.sidecar.answer(id)["identityId"] for id in ids}), 200)

    def test_hanging_token_endpoint_times_out(self):
        sidecar = self.spawn(testing=True, environment={"MINTMARK_PROVIDER_TIMEOUT": "1"})
        ids, _ = self.many(sidecar, 200)
        for id in ids:
            with self.assertRaises(RpcError) as caught:
                sidecar.answer(id)
            self.assertEqual(caught.exception.type, "providerUnavailable")
            self.assertIn("did not respond within 1 s", caught.exception.message)
        self.assertLessEqual(len(self.site.asked), 16)

    def test_many_concurrent_access_tokens_are_all_verified(self):
        name = "www.amazon.com"

        def answer(handler):
            time.sleep(0.02)   # so that requests overlap
            return page({"iss": "https://www.amazon.com", "user_id": handler.path[-3:], "aud": "a"})
        self.site.pages["/auth/o2/tokeninfo"] = answer
        pool = self.pool(self.sidecar, {"provider": name, "clientIds": ["a"], "endpoint": self.site.origin})
        ids = [self.sidecar.send("identity.resolve", {"poolId": pool, "logins": {name: f"token{n:03}"}}) for n in range(300)]
        for id in ids[::3]:
            self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id)
        self.assertEqual(len({self.sidecar.answer(id)["identityId"] for n, id in enumerate(ids) if n % 3}), 200)

    def test_invalid_response_of_the_token_endpoint_fails_without_disclosing_the_token(self):
        name = "www.amazon.com"
        pool = self.pool(self.sidecar, {"provider": name, "clientIds": ["a"], "endpoint": self.site.origin})
        for answer, wanted, check in [(html(), "providerUnusable", "document"), (html(status=404), "providerUnusable", "status"), (page({}, 404), "providerUnusable", "status"),
                                      (page({}, 500), "providerUnavailable", None), (page({}, 429), "providerUnavailable", None), (redirect("https://elsewhere.example/"), "providerUnusable", "redirect")]:
            self.site.pages["/auth/o2/tokeninfo"] = answer
            error = self.refused(wanted, self.sidecar, "identity.resolve", {"poolId": pool, "logins": {name: "secret-token"}})
            self.assertEqual(error.data.get("check"), check)
            self.assertNotIn("secret-token", str(error))
        self.site.close()
        error = self.refused("providerUnavailable", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {name: "secret-token"}})
        self.assertNotIn("secret-token", str(error))
        self.assertNotIn("secret-token", self.sidecar.stderr_text())

    def test_invalid_endpoint_fails(self):
        for settings in [{"provider": "www.amazon.com", "endpoint": "api.amazon.com"}, {"provider": "www.amazon.com", "endpoint": "https://api.amazon.com?x=1"},
                         {"provider": "www.amazon.com", "endpoint": "http://api.amazon.com"}, {"issuer": "https://login.example.com", "endpoint": "https://login.example.com"}]:
            self.refused("invalidPoolProvider", self.sidecar, "pool.create", {"name": "shop", "providers": [{**settings, "clientIds": ["a"]}]})


class Machine(Providers):
    """libcurl, and the options for outgoing connections."""

    def test_without_libcurl_provider_logins_fail_and_everything_else_works(self):
        site = self.serve()
        os.mkdir(self.path("lib"))
        open(self.path("lib", "libcurl.so.4"), "w").close()
        broken = {"LD_LIBRARY_PATH": self.path("lib")}
        sidecar = self.spawn(testing=True, environment=broken)
        self.fails("providerUnavailable", None, sidecar, self.pool(sidecar, site.settings()), site, says="apt-get install libcurl4")
        self.works(sidecar)
        said = run("doctor", "--store", ":memory:", environment=broken)
        self.assertEqual((said.returncode, b"libcurl4" in said.stdout), (0, True), said)
        self.assertIn(b"libcurl is available", run("doctor", "--store", ":memory:").stdout)

    def test_provider_login_in_a_single_command(self):
        site, store = self.serve(), ["--store", self.path("shop.db"), "--testing"]
        made = run("call", "pool.create", json.dumps({"name": "shop", "providers": [site.settings()]}), *store)
        params = {"poolId": json.loads(made.stdout)["poolId"], "logins": {site.name: site.token()}}
        self.assertTrue(json.loads(run("call", "identity.resolve", json.dumps(params), *store).stdout)["isNewIdentity"])

    def test_invalid_network_options_fail(self):
        for options in [["--ca-file", self.path("nowhere.pem")], ["--proxy", "proxy.example:3128"], ["--proxy", "http://"]]:
            done = run("serve", "--store", ":memory:", *options)
            self.assertEqual((done.returncode, options[0].encode() in done.stderr), (64, True), done)
        open(self.path("empty.pem"), "w").close()
        sidecar, site = self.spawn("--ca-file", self.path("empty.pem")), self.serve(OpenIDWebsite, Authority(self.folder).context("127.0.0.1"))
        self.fails("providerUnusable", "certificate", sidecar, self.pool(sidecar, site.settings(allowPrivateNetwork=True)), site, says="contains no PEM certificates")
