"""Families of published advisories: tokens of identity providers and of trusted issuers, trust policies, addresses of requests, and imports."""

import json
import unittest

from federation import PASSWORD, Federation
from sidecar import RpcError
from test_logins import Provider
from workloads import ACTION, FAMILIES, github, trusting

HOOK = {"transport": "webhook"}


class Providers(Federation):
    def refuse(self, check, token, **more):
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {
            "credential": {"providerId": "oidc.work", "idToken": token}, **more})
        self.assertIn(error.data["check"], {check} if isinstance(check, str) else check, error)

    def test_token_without_its_times_or_for_others_is_refused(self):
        """GHSA-wxg7-w2v3-w38g (Zitadel: no exp, no iat), CVE-2026-55669 (Zitadel: aud)."""
        now = self.sidecar.call("system.ping")["now"]
        cases = [("expired", {"exp": None}), ("notYetValid", {"iat": None}), ("expired", {"exp": now - 3600}), ("audience", {"aud": "other"}),
                 ("audience", {"aud": None}), ("audience", {"aud": ["shop", "other"]}), ("audience", {"azp": "other"}),
                 ("issuer", {"iss": "https://evil.example"}), ("issuer", {"iss": "https://oidc.work.example.com/"}),
                 ("subject", {"sub": None}), ("subject", {"sub": ""})]
        for check, claims in cases:
            with self.subTest(**{name: str(value) for name, value in claims.items()}):
                claims = dict(claims)
                subject = claims.pop("sub") if "sub" in claims else "carol"
                with self.assertRaises(RpcError) as caught:
                    self.sidecar.call("signIn.withCredential", {"credential": {
                        "providerId": "oidc.work", "idToken": self.provider.token(subject, **claims)}})
                self.assertEqual(caught.exception.type, "invalidCredential")

    def test_token_that_names_another_key_algorithm_or_kind(self):
        """CVE-2026-11800 (Keycloak): algorithm confusion; keys from the token, logout and access tokens as ID tokens."""
        stranger = Provider(self.provider.issuer)
        for headers, key in (({"kid": "../../etc/passwd"}, None), ({"kid": "k2"}, None), ({"jwk": stranger.jwk}, stranger.key), ({}, stranger.key),
                             ({"typ": "at+jwt"}, None), ({"typ": "logout+jwt"}, None), ({"crit": ["b64"], "b64": True}, None)):
            with self.subTest(str(headers)):
                with self.assertRaises(RpcError) as caught:
                    self.sidecar.call("signIn.withCredential", {"credential": {
                        "providerId": "oidc.work", "idToken": self.provider.token(headers=headers, key=key)}})
                self.assertEqual(caught.exception.type, "invalidCredential")

    def test_user_of_one_provider_is_not_that_of_another(self):
        """CVE-2026-67330 (Better Auth): colliding provider IDs; OpenID Connect mix-up."""
        other = self.idp("oidc.other")
        first, second = self.account(self.sign_in()), self.account(self.sign_in(other))
        self.assertNotEqual(first, second)
        for provider, name in ((self.provider, "oidc.other"), (other, "oidc.work")):
            with self.assertRaises(RpcError) as caught:
                self.sidecar.call("signIn.withCredential", {"credential": {"providerId": name, "idToken": provider.token()}})
            self.assertEqual(caught.exception.type, "invalidCredential")

    def test_deactivated_provider_opens_nothing_also_for_what_was_begun(self):
        """CVE-2025-64717 (Zitadel) and CVE-2026-1486 (Keycloak): sign-in through a provider that was switched off."""
        self.account(self.sign_in())
        _, token = self.password_account()
        taken = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": token, "credential": self.credential()})
        self.sidecar.call("idp.update", {"providerId": "oidc.work", "enabled": False})
        self.refused("idpDisabled", self.sidecar, "signIn.withCredential", {"credential": self.credential()})
        self.refused("idpDisabled", self.sidecar, "account.link", {"idToken": token, "credential": self.credential(subject="x")})
        self.refused("idpDisabled", self.sidecar, "account.reauthenticate", {"idToken": token, "credential": self.credential()})
        pending = taken.data.get("pendingToken")
        if pending:
            self.refused({"idpDisabled", "pendingTokenInvalid"}, self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": pending}})

    def test_pending_token_belongs_to_one_user_of_the_provider(self):
        """CVE-2026-9087 and CVE-2026-82968 (Keycloak): the proof of a link was not bound to the user of the provider."""
        account, token = self.password_account()
        answer = self.sign_in(subject="mallory", email="carol@example.com")
        self.assertEqual(answer["state"], "providerRequired")
        linked = self.sidecar.call("account.link", {"idToken": token, "credential": {"pendingToken": answer["pendingToken"]}})
        self.assertEqual(linked["account"]["accountId"], account)
        error = self.sidecar.refusal("account.link", {"idToken": linked["idToken"], "credential": {"pendingToken": answer["pendingToken"]}})
        self.assertIn(error.type, ("pendingTokenInvalid", "providerAlreadyLinked", "credentialAlreadyInUse"))
        stranger = self.sign_in(subject="stranger", email="carol@example.com")
        self.assertEqual(stranger["state"], "providerRequired")

    def test_credential_links_only_with_a_recent_session_of_the_account(self):
        """CVE-2026-105207 (Zitadel): identities of others were linked to an account without its proof."""
        account, _ = self.password_account()
        for params in ({"accountId": account}, {"username": "carol@example.com"}, {"idToken": "x.y.z"}, {}):
            self.refused({"invalidParams", "tokenMalformed"}, self.sidecar, "account.link", {**params, "credential": self.credential()})


class Roles(Federation):
    def setUp(self):
        super().setUp()
        self.family = FAMILIES["github"]()
        self.family.put(self.sidecar)

    def put(self, **condition):
        return self.sidecar.refusal("role.put", {"name": "deploy", "trustPolicy": trusting(self.family.principal, **condition)})

    def test_trust_policy_that_anyone_satisfies_is_refused(self):
        """Trust-policy wildcards of GitHub Actions (reported for AWS roles since 2023) and of identity pools without `aud`."""
        host = "token.actions.githubusercontent.com"
        for condition in ({}, {"StringLike": {f"{host}:sub": "*"}}, {"StringLike": {f"{host}:sub": "repo:*"}},
                          {"StringEquals": {f"{host}:aud": "sts.amazonaws.com"}},
                          {"ForAllValues:StringEquals": {f"{host}:sub": "repo:octo-org/octo-repo:ref:refs/heads/main"}},
                          {"StringEqualsIfExists": {f"{host}:sub": "repo:octo-org/octo-repo:ref:refs/heads/main"}},
                          {"StringNotEquals": {f"{host}:sub": "x"}}):
            with self.subTest(str(condition)):
                self.put(**condition)

    def test_test_of_a_role_issues_nothing_and_reveals_no_token(self):
        self.sidecar.call("role.put", {"name": "deploy", "trustPolicy": self.family.policy})
        token = self.family.token()
        found = self.sidecar.call("role.test", {"name": "deploy", "token": token})
        self.assertTrue(found["allowed"])
        self.assertNotIn(token.split(".")[2], json.dumps(found))
        self.assertNotIn("credentials", found)
        forged = self.family.token(key=type(self.family)(self.family.issuer, "x", {}, {}, self.family.algorithm).key)
        bad = self.sidecar.call("role.test", {"name": "deploy", "token": forged})
        self.assertEqual((bad["allowed"], bad["keys"], bad["statements"]), (False, {}, []))

    def test_tags_come_only_from_an_issuer_that_may_set_them(self):
        """Role and claim injection through attributes of a profile: claims of an account never become session tags."""
        account, _ = self.password_account()
        for name in ("https://aws.amazon.com/tags", "https://sts.amazonaws.com/source_identity", "https://aws.amazon.com/source_identity", "sub", "amr"):
            self.refused("claimNameReserved", self.sidecar, "account.setClaims", {"accountId": account, "claims": {name: {"admin": ["true"]}}})


class Requests(Federation):
    """Requests to addresses of the own network: CVE-2026-1180 (Keycloak: key sets), CVE-2020-10770 (Keycloak), webhooks."""

    stores = ("sqlite",)
    INSIDE = ("https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://169.254.169.254/latest/meta-data", "https://10.0.0.1/x",
              "https://192.168.1.1/x", "https://[::ffff:127.0.0.1]/x", "https://[fd00::1]/x", "https://0.0.0.0/x", "https://2130706433/x",
              "https://0x7f.1/x", "https://127.1/x")

    def test_keys_of_issuers_are_not_fetched_inside(self):
        sidecar = self.spawn(store=self.path("real.db"))
        for number, url in enumerate(self.INSIDE):
            with self.subTest(url):
                sidecar.call("issuer.put", {"issuer": f"https://issuer{number}.example.com", "audiences": ["a"], "jwksUri": url})
                found = sidecar.call("issuer.test", {"issuer": f"https://issuer{number}.example.com"}, timeout=60)
                self.assertFalse(found["ok"])
                self.assertIn("private, loopback or reserved address", json.dumps(found))

    def test_hooks_and_delivery_are_not_sent_inside_in_plain_text(self):
        for url in ("http://10.0.0.1/", "http://169.254.169.254/", "ftp://x.example/", "file:///etc/passwd", "https://user:word@x.example/", "https://"):
            self.refused({"invalidTenantSettings", "invalidParams"}, self.sidecar, "hooks.set", {
                "beforeSignIn": {**HOOK, "webhook": {"url": url, "secret": "the secret of a hook webhook"}}})
            self.refused({"invalidTenantSettings", "invalidParams"}, self.sidecar, "tenant.update", {
                "tenantId": "default", "delivery": {"webhook": {"url": url, "secret": "the secret of a hook webhook"}}})

    def test_hostile_hash_is_refused_before_it_is_computed(self):
        """Imported hashes with unbounded cost, or that every password satisfies: CVE-2025-22228 (Spring Security)."""
        for password in ({"algorithm": "bcrypt", "hash": "$2a$31$" + "a" * 53}, {"algorithm": "scrypt", "hash": "", "salt": ""},
                         {"algorithm": "pbkdf2-sha256", "hash": "", "salt": "", "iterations": 10**12}, {"algorithm": "plain", "hash": PASSWORD}):
            path = self.path("users.jsonl")
            with open(path, "w") as file:
                file.write(json.dumps({"username": "dora@example.com", "method": "password", "passwordHash": password}) + "\n")
            try:
                found = self.sidecar.call("account.import", {"path": path}, timeout=60)
            except RpcError as error:
                self.assertEqual(error.type, "invalidParams")
                continue
            self.assertEqual(found["imported"], 0, (password, found))


if __name__ == "__main__":
    unittest.main()
