"""Providers that publish their keys, are asked about access tokens, or are not as they should be."""

import json
import secrets

from endtoend import only
from federation import Federation
from websites import DISCOVERY, KEYS, OpenIDWebsite, Website, html, page


UNFIT = ["javascript:alert(1)", "ftp://x/y", "file:///etc/passwd", "/relative", "http://example.com/a", "https://", "https://x/a#part", "https://user@x/a", "https://x/a b", ""]


class OverTheNetwork(Federation):
    """Providers that publish their keys, are asked about access tokens, or are not as they should be."""

    def site(self, kind=OpenIDWebsite):
        site = kind()
        self.addCleanup(site.close)
        return site

    def checks(self, provider_id):
        answer = self.sidecar.call("idp.test", {"providerId": provider_id})
        return answer["ok"], {each["check"]: (each["ok"], each["message"]) for each in answer["checks"]}

    def test_keys_are_fetched_and_what_is_wrong_is_said(self):
        site = self.site()
        good = {"issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/a", "response_types_supported": ["id_token"]}
        site.pages[DISCOVERY] = page(good)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        answer = self.sidecar.call("signIn.withCredential", {"credential": {"providerId": "oidc.site", "idToken": site.token()}})
        self.assertEqual(answer["state"], "completed")
        ok, checks = self.checks("oidc.site")
        self.assertTrue(ok, checks)
        self.assertEqual(list(checks), ["settings", "discovery", "keys", "algorithms", "responseType", "endpoints"])
        for document, check, words in [
            (page({**good, "issuer": site.issuer + "/"}), "discovery", "slash"), (html(), "discovery", "JSON"), (page({}, status=404), "discovery", "404"),
            (page({"issuer": site.issuer}), "keys", "jwks_uri"), (page({**good, "jwks_uri": site.issuer + "/none"}), "keys", "404"),
            (page({**good, "id_token_signing_alg_values_supported": ["HS256"]}), "algorithms", "HS256"),
            (page({**good, "response_types_supported": ["code"]}), "responseType", "code"),
            (page({name: value for name, value in good.items() if name != "authorization_endpoint"}), "responseType", "authorization_endpoint"),
            *[(page({**good, name: url}), "endpoints", name) for name in ("authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "userinfo_endpoint") for url in UNFIT],
            (page({**good, "authorization_endpoint": site.issuer + "/a?state=evil"}), "endpoints", "state"),
        ]:
            with self.subTest(check=check, words=words):
                site.pages[DISCOVERY] = document
                ok, checks = self.checks("oidc.site")
                self.assertFalse(ok)
                self.assertFalse(checks[check][0])
                self.assertIn(words, checks[check][1])
                self.assertEqual([name for name, (fine, _) in checks.items() if not fine], [check])

    def test_nobody_is_sent_or_asked_where_a_document_must_not_lead(self):
        site = self.site()
        good = {"issuer": site.issuer, "jwks_uri": site.issuer + KEYS, **{name: site.issuer + "/" + name for name in ("authorization_endpoint", "token_endpoint", "device_authorization_endpoint")}}
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "clientSecret": "s", "responseType": "code", "issuer": site.issuer})
        authorize = {"providerId": "oidc.site", "redirectUri": "https://shop.example.com/back"}
        for url in UNFIT + ["https://x/a?nonce=1"]:
            with self.subTest(url):
                site.pages[DISCOVERY] = page({**good, "authorization_endpoint": url})
                self.assertEqual(self.refused("providerUnusable", self.sidecar, "idp.authorize", authorize).data["check"], "address")
        for url in UNFIT:
            with self.subTest(url):
                site.pages[DISCOVERY] = page({**good, "token_endpoint": url})
                self.assertEqual(self.refused("providerUnusable", self.sidecar, "idp.authorize", authorize).data["check"], "address")
                self.assertEqual(self.refused("providerUnusable", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.site"}).data["check"], "address")
                site.pages[DISCOVERY] = page({**good, "device_authorization_endpoint": url})
                self.assertEqual(self.refused("providerUnusable", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.site"}).data["check"], "address")
        site.pages[DISCOVERY] = page({**good, "authorization_endpoint": "https://login.example.com/a?policy=b2c"})
        self.assertTrue(self.sidecar.call("idp.authorize", authorize)["authorizationUrl"].startswith("https://login.example.com/a?policy=b2c&client_id=shop"))
        self.assertTrue(self.checks("oidc.site")[0])

    def test_what_the_token_endpoint_asks_for_is_looked_at(self):
        site = self.site()
        good = {"issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/a", "token_endpoint": site.issuer + "/t"}
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "clientSecret": "s", "responseType": "code", "issuer": site.issuer})
        for more, words in [({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "private_key_jwt"), ({"code_challenge_methods_supported": ["plain"]}, "S256"),
                            ({"token_endpoint_auth_methods_supported": ["client_secret_post"]}, "Set clientAuthentication to post")]:
            site.pages[DISCOVERY] = page({**good, **more})
            ok, checks = self.checks("oidc.site")
            self.assertFalse(ok)
            self.assertIn(words, checks["endpoints"][1])
        site.pages[DISCOVERY] = page({**good, "token_endpoint_auth_methods_supported": ["client_secret_basic", "x"], "code_challenge_methods_supported": ["plain", "S256"]})
        self.assertTrue(self.checks("oidc.site")[0])

    def test_a_provider_that_cannot_be_asked(self):
        site = self.site()
        token, issuer = site.token(), site.issuer
        site.pages[DISCOVERY] = page({}, status=503)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": issuer})
        error = self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", {"credential": {"providerId": "oidc.site", "idToken": token}})
        self.assertEqual(error.data["provider"], "oidc.site")

    def asking(self, provider_id, pages, **more):
        site = self.site(Website)
        site.pages.update(pages)
        self.sidecar.call("idp.create", {"providerId": provider_id, "clientId": "shop", "endpoint": site.origin, **more})
        return site

    def with_access_token(self, provider_id, token="secret token"):
        return {"credential": {"providerId": provider_id, "accessToken": token}, "returnProviderTokens": True}

    def test_access_tokens_are_judged_by_the_provider(self):
        self.asking("facebook.com", {"/app": page({"id": "shop"}), "/me": page({"id": "77", "name": "Carol", "email": "carol@example.com", "picture": {"data": {"url": "https://p.example/1"}}})})
        answer = self.sidecar.call("signIn.withCredential", self.with_access_token("facebook.com"))
        self.assertEqual(answer["account"]["providers"], [{"providerId": "facebook.com", "subject": "77", "email": "carol@example.com", "displayName": "Carol",
                                                          "photoUrl": "https://p.example/1", "linkedAt": answer["account"]["createdAt"]}])
        self.assertEqual(answer["providerTokens"], {"accessToken": "secret token"})
        self.asking("google.com", {"/tokeninfo": page({"aud": "shop", "sub": "g1", "email": "dora@gmail.com", "email_verified": "true"})})
        dora = self.sidecar.call("signIn.withCredential", self.with_access_token("google.com"))["account"]
        self.assertEqual((dora["email"], dora["emailVerified"]), ("dora@gmail.com", True))

    def test_github_is_asked_with_the_client_secret(self):
        seen = {}

        def check(handler):
            seen["check"] = (handler.command, handler.headers["Authorization"], handler.rfile.read(int(handler.headers["Content-Length"])))
            return page({"app": {"client_id": "shop"}, "user": {"id": 5}})

        def user(handler):
            seen["user"] = handler.headers["Authorization"]
            return page({"id": 5, "login": "carol", "email": "carol@example.com", "avatar_url": "https://p.example/5"})

        self.asking("github.com", {"/applications/shop/token": check, "/user": user}, clientSecret="hush")
        answer = self.sidecar.call("signIn.withCredential", self.with_access_token("github.com"))
        self.assertEqual((answer["additionalUserInfo"]["username"], answer["account"]["providers"][0]["subject"], answer["account"]["emailVerified"]), ("carol", "5", False))
        self.assertEqual(seen["check"], ("POST", "Basic c2hvcDpodXNo", b'{"access_token":"secret token"}'))
        self.assertEqual(seen["user"], "Bearer secret token")

    def test_access_tokens_that_prove_nothing(self):
        site = self.asking("facebook.com", {"/app": page({"id": "another app"}), "/me": page({"id": "77"})})
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.with_access_token("facebook.com"))
        self.assertEqual(error.data["check"], "audience")
        for answer in (page({"error": {}}, status=400), page({}, status=401)):
            site.pages["/app"] = answer
            error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.with_access_token("facebook.com"))
            self.assertEqual(error.data["check"], "accessToken")
        site.pages.update({"/app": page({"id": "shop"}), "/me": page({})})
        self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.with_access_token("facebook.com"))
        site.pages["/me"] = page({}, status=500)
        self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", self.with_access_token("facebook.com"))
        self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.with_access_token("oidc.work"))

    @only("sqlite")
    def test_the_client_secret_is_nowhere_to_be_read(self):
        secret = "hush-" + secrets.token_hex(8)
        sidecar = self.spawn(testing=True, store=self.path("s.db"))
        settings = {"providerId": "github.com", "clientId": "shop", "clientSecret": secret}
        answers = [sidecar.call("idp.create", settings), sidecar.call("idp.get", {"providerId": "github.com"}), sidecar.call("audit.list", {}), sidecar.call("system.apply", {"idps": [settings]})]
        sidecar.call("idp.update", {"providerId": "github.com", "clientSecret": secret + "2"})
        self.assertNotIn(secret, json.dumps(answers))
        for suffix in ("", "-wal"):
            with open(self.path("s.db" + suffix), "rb") as file:
                self.assertNotIn(secret.encode(), file.read())

    def test_a_name_that_somebody_made_up_does_not_hide_a_new_key(self):
        site = self.site()
        site.pages[DISCOVERY] = page({"issuer": site.issuer, "jwks_uri": site.issuer + KEYS})
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        credential = lambda **more: {"credential": {"providerId": "oidc.site", "idToken": site.token(**more)}}
        self.sidecar.call("signIn.withCredential", credential())
        forged = secrets.token_hex(8)
        for _ in range(3):
            self.assertEqual(self.refused("invalidCredential", self.sidecar, "signIn.withCredential", credential(kid=forged)).data["check"], "signature")
        self.assertEqual(site.count(KEYS), 2)
        site.rotate("second")
        self.assertEqual(self.sidecar.call("signIn.withCredential", credential())["state"], "completed")
        # However many are made up, it is not asked without end; then nobody is told that a token is wrong.
        types = [self.sidecar.refusal("signIn.withCredential", credential(kid=secrets.token_hex(8))).type for _ in range(20)]
        self.assertEqual((types[0], types[-1]), ("invalidCredential", "providerUnavailable"))
        self.assertLess(site.count(KEYS), 12)
        self.assertEqual(self.sidecar.call("signIn.withCredential", credential(subject="dora"))["state"], "completed")
