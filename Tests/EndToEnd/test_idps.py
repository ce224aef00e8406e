"""Identity providers that publish their keys, that verify access tokens, or that are misconfigured."""

import json
import secrets
import urllib.parse

from endtoend import only
from federation import Federation
from websites import DISCOVERY, KEYS, OpenIDWebsite, Website, html, page


UNFIT = ["javascript:alert(1)", "ftp://x/y", "file:///etc/passwd", "/relative", "http://example.com/a", "https://", "https://x/a#part", "https://user@x/a", "https://x/a b", ""]


class OverTheNetwork(Federation):
    """Identity providers with web servers."""

    def site(self, kind=OpenIDWebsite):
        site = kind()
        self.addCleanup(site.close)
        return site

    def checks(self, provider_id):
        answer = self.sidecar.call("idp.test", {"providerId": provider_id})
        return answer["ok"], {each["check"]: (each["ok"], each["message"]) for each in answer["checks"]}

    def test_keys_are_fetched_and_idp_test_reports_every_problem(self):
        site = self.site()
        good = {"issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/a", "response_types_supported": ["id_token"],
                "response_modes_supported": ["fragment", "form_post"]}
        site.pages[DISCOVERY] = page(good)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer, "responseType": "idToken"})
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
            (page({**good, "response_modes_supported": ["query", "fragment"]}), "responseType", "form_post"),
            (page({name: value for name, value in good.items() if name != "response_modes_supported"}), "responseType", "form_post"),
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

    def test_discovery_documents_with_unsafe_endpoints_are_rejected(self):
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

    def code_site(self, **more):
        """Returns a provider with a code flow, and the list of requests to its token endpoint."""
        site, posts = self.site(), []
        document = {"issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/a", "token_endpoint": site.issuer + "/t", **more}
        site.pages[DISCOVERY] = page({name: value for name, value in document.items() if value})
        def redeem(request):
            posts.append((request.headers["Authorization"], dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode()))))
            return page({"id_token": site.token(nonce=site.nonce, **site.claims), "access_token": "a", "token_type": "Bearer"})
        site.pages["/t"], site.claims = redeem, {}
        return site, posts

    def authorize(self, site=None, provider_id="oidc.site", **more):
        back = {} if "listen" in more else {"redirectUri": "https://shop.example.com/back"}
        flow = self.sidecar.call("idp.authorize", {"providerId": provider_id, **back, **more})
        sent = dict(urllib.parse.parse_qsl(flow["authorizationUrl"].split("?", 1)[1]))
        if site:
            site.nonce = sent["nonce"]
        return flow, sent

    def test_new_provider_uses_code_flow_by_default(self):
        site, posts = self.code_site()
        made = self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        self.assertEqual((made["responseType"], made["clientAuthentication"], made["hasClientSecret"]), ("code", "none", False))
        flow, sent = self.authorize(site)
        self.assertEqual((sent["response_type"], sent["code_challenge_method"], len(sent["code_challenge"])), ("code", "S256", 43))
        credential = {"continuationToken": flow["continuationToken"], "url": f"https://shop.example.com/back?code=c&state={sent['state']}"}
        self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": credential})["state"], "completed")
        proof, form = posts[0]
        self.assertEqual((proof, form["client_id"], len(form["code_verifier"]), "client_secret" in form), (None, "shop", 43, False))
        for provider_id in ("google.com", "apple.com", "facebook.com", "microsoft.com"):
            self.assertEqual(self.sidecar.call("idp.create", {"providerId": provider_id, "clientId": "shop"})["responseType"], "code")
        self.refused("invalidIdp", self.sidecar, "idp.create", {"providerId": "github.com", "clientId": "shop"})
        for way in ("basic", "post"):
            error = self.refused("invalidIdp", self.sidecar, "idp.create", {"providerId": "oidc.other", "clientId": "shop", "issuer": site.issuer, "clientAuthentication": way})
            self.assertEqual(error.data["pointer"], "/clientSecret")
        self.assertEqual(self.sidecar.call("idp.update", {"providerId": "oidc.site", "responseType": "idToken"})["responseType"], "idToken")
        self.assertEqual(self.authorize()[1]["response_type"], "id_token")
        self.assertEqual(self.sidecar.call("system.apply", {"idps": [{"providerId": "oidc.applied", "clientId": "shop", "issuer": site.issuer}]})["changes"][0]["change"], "created")
        self.assertEqual(self.sidecar.call("idp.get", {"providerId": "oidc.applied"})["responseType"], "code")

    def test_provider_of_former_version_keeps_response_type(self):
        """Before the code flow became the default, a provider was stored without a response type and used the implicit flow."""
        self.store = self.path("former.db")
        sidecar = self.spawn(store=self.store)
        sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": "https://login.example.com"})
        sidecar.call("idp.create", {"providerId": "github.com", "clientId": "shop", "clientSecret": "s"})
        sidecar.finish()
        for provider_id, settings in self.rows("SELECT provider_id, settings FROM idp"):
            former = {name: value for name, value in json.loads(settings).items() if name not in ("responseType", "scopes", "openidOnly")}
            self.rows(f"UPDATE idp SET settings = '{json.dumps(former)}' WHERE provider_id = '{provider_id}'")
        sidecar = self.spawn(store=self.store)
        self.assertEqual(
            [(each["providerId"], each["responseType"], each["scopes"], each["openidOnly"]) for each in sidecar.call("idp.list", {})["idps"]],
            [("github.com", "code", [], False), ("oidc.site", "idToken", [], False)])
        self.assertEqual(sidecar.call("idp.update", {"providerId": "oidc.site", "displayName": "Site"})["responseType"], "idToken")
        change = sidecar.call("system.apply", {"idps": [{"providerId": "oidc.site", "displayName": "Site"}]})["changes"][0]
        self.assertEqual(change["change"], "unchanged")

    def test_scopes_are_added_to_basic_scopes(self):
        site, _ = self.code_site()
        create = {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer}
        made = self.sidecar.call("idp.create", create)
        self.assertEqual((made["scopes"], made["openidOnly"]), ([], False))
        for settings, scopes, wanted in [
                ({}, None, "openid email profile"), ({}, [], "openid email profile"), ({}, ["offline_access"], "openid email profile offline_access"),
                ({}, ["openid", "email", "x"], "openid email profile x"), ({"scopes": ["offline_access"]}, None, "openid email profile offline_access"),
                ({"scopes": ["offline_access"]}, ["offline_access", "y"], "openid email profile offline_access y"),
                ({"openidOnly": True}, None, "openid offline_access"), ({"scopes": []}, None, "openid"), ({}, ["phone"], "openid phone"), ({"openidOnly": False}, None, "openid email profile")]:
            with self.subTest(settings=settings, scopes=scopes):
                self.sidecar.call("idp.update", {"providerId": "oidc.site", **settings})
                self.assertEqual(self.authorize(**({} if scopes is None else {"scopes": scopes}))[1]["scope"], wanted)
        self.sidecar.call("idp.create", {"providerId": "github.com", "clientId": "shop", "clientSecret": "s"})
        self.assertEqual(self.authorize(provider_id="github.com", scopes=["repo"])[1]["scope"], "read:user user:email repo")
        for provider_id in ("github.com", "facebook.com"):
            error = self.refused("invalidIdp", self.sidecar, "idp.create", {"tenantId": "default", "providerId": provider_id, "clientId": "shop", "clientSecret": "s", "openidOnly": True})
            self.assertEqual(error.data["pointer"], "/openidOnly")
        change = self.sidecar.call("system.apply", {"idps": [{"providerId": "oidc.site", "scopes": ["z"], "openidOnly": True}]})["changes"][0]
        self.assertEqual(change["changed"], ["scopes", "openidOnly"])

    def test_offline_access_scope_keeps_email_and_name(self):
        site, _ = self.code_site()
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        flow, sent = self.authorize(site, scopes=["offline_access"])
        granted = sent["scope"].split()
        site.claims = {**({"email": "carol@example.com"} if "email" in granted else {}), **({"name": "Carol"} if "profile" in granted else {})}
        credential = {"continuationToken": flow["continuationToken"], "url": f"https://shop.example.com/back?code=c&state={sent['state']}"}
        account = self.sidecar.call("signIn.withCredential", {"credential": credential})["account"]
        self.assertEqual((account["email"], account["attributes"]), ("carol@example.com", {"displayName": "Carol"}))

    def test_discovery_document_is_fetched_once(self):
        site, _ = self.code_site(device_authorization_endpoint=None)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        good = site.pages[DISCOVERY]
        site.pages[DISCOVERY] = held = site.held(good)
        ids = [self.sidecar.send("idp.authorize", {"providerId": "oidc.site", "redirectUri": "https://shop.example.com/back"}) for _ in range(50)]
        site.wait_until_asked(DISCOVERY)
        self.settled(self.sidecar)
        held.release()
        for each in ids:
            self.sidecar.answer(each)
        self.assertEqual(site.asked, [DISCOVERY])
        # idp.test fetches the document again, and so does the next sign-in.
        site.pages[DISCOVERY] = good
        self.checks("oidc.site")
        self.assertEqual(site.asked, [DISCOVERY, DISCOVERY, KEYS])
        self.authorize()
        self.authorize()
        self.assertEqual(site.count(DISCOVERY), 3)
        # The cached document is used when the provider is unavailable.
        site.close()
        self.authorize()

    def test_missing_discovery_document_is_requested_again_after_pause(self):
        site, _ = self.code_site()
        good = site.pages[DISCOVERY]
        site.pages[DISCOVERY] = page({}, status=503)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        for _ in range(5):
            self.refused("providerUnavailable", self.sidecar, "idp.authorize", {"providerId": "oidc.site", "listen": {}})
        self.assertEqual(site.count(DISCOVERY), 1)
        site.pages[DISCOVERY] = good
        self.sidecar.call("test.fault", {"clear": True})  # ends the pause
        self.authorize()

    def test_implicit_flow_with_listener_requires_form_post(self):
        for modes, works in ((None, False), (["query", "fragment"], False), (["fragment", "form_post"], True)):
            with self.subTest(modes):
                site, _ = self.code_site(response_modes_supported=modes)
                name = f"oidc.p{site.port}"
                self.sidecar.call("idp.create", {"providerId": name, "clientId": "shop", "issuer": site.issuer, "responseType": "idToken"})
                ok, checks = self.checks(name)
                self.assertEqual((ok, checks["responseType"][0]), (works, works), checks)
                if works:
                    self.assertEqual(self.authorize(provider_id=name, listen={})[1]["response_mode"], "form_post")
                else:
                    self.assertIn("form_post", checks["responseType"][1])
                    error = self.refused("providerUnusable", self.sidecar, "idp.authorize", {"providerId": name, "listen": {}})
                    self.assertIn("Set responseType to code", error.message)
                self.assertNotIn("response_mode", self.authorize(provider_id=name)[1])
                self.sidecar.call("idp.update", {"providerId": name, "responseType": "code"})
                self.authorize(provider_id=name, listen={})
                self.assertTrue(self.checks(name)[0])

    def test_discovery_url_is_rejected_as_issuer_with_suggestion(self):
        site, _ = self.code_site()
        site.pages["/tenant" + DISCOVERY] = page({"issuer": "https://login.example.com/{tenantid}/v2.0"})
        for url, words in [
                (site.issuer + DISCOVERY, f"names the issuer {site.issuer}:"), (site.issuer + "/tenant" + DISCOVERY, "names the issuer https://login.example.com/{tenantid}/v2.0:"),
                (site.issuer + "/nothing" + DISCOVERY, f"probably {site.issuer}/nothing"), (site.issuer + "/.well-known/oauth-authorization-server", f"probably {site.issuer}")]:
            with self.subTest(url):
                error = self.refused("invalidIdp", self.sidecar, "idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": url})
                self.assertEqual(error.data["pointer"], "/issuer")
                self.assertIn(words, error.message)
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "issuer": site.issuer})
        error = self.refused("invalidIdp", self.sidecar, "idp.update", {"providerId": "oidc.site", "issuer": site.issuer + DISCOVERY})
        self.assertIn(f"names the issuer {site.issuer}:", error.message)
        error = self.refused("invalidParams", self.sidecar, "system.apply", {"idps": [{"providerId": "oidc.site", "issuer": site.issuer + DISCOVERY}]})
        self.assertIn("probably", str(error))
        error = self.refused("invalidPoolProvider", self.sidecar, "pool.create", {"name": "shop", "providers": [{"issuer": "https://login.example.com" + DISCOVERY, "clientIds": ["a"]}]})
        self.assertIn("probably https://login.example.com", error.message)

    def test_misspelled_provider_suggests_correct_name(self):
        for name, wanted in (("google", "google.com"), ("Google", "google.com"), ("github", "github.com"), ("gogle.com", "google.com"), ("microsoft", "microsoft.com"), ("apple", "apple.com")):
            error = self.refused("invalidParams", self.sidecar, "idp.create", {"providerId": name, "clientId": "shop"})
            self.assertIn(f"Did you mean {wanted}", error.data["violations"][0]["message"])
        error = self.refused("invalidParams", self.sidecar, "idp.create", {"providerId": "keycloak", "clientId": "shop"})
        self.assertNotIn("Did you mean", str(error))

    def test_idp_test_reports_unsupported_token_endpoint_requirements(self):
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

    def test_unavailable_provider_fails_sign_in(self):
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

    def test_access_tokens_are_verified_by_provider(self):
        self.asking("facebook.com", {"/app": page({"id": "shop"}), "/me": page({"id": "77", "name": "Carol", "email": "carol@example.com", "picture": {"data": {"url": "https://p.example/1"}}})})
        answer = self.sidecar.call("signIn.withCredential", self.with_access_token("facebook.com"))
        self.assertEqual(answer["account"]["providers"], [{"providerId": "facebook.com", "subject": "77", "email": "carol@example.com", "displayName": "Carol",
                                                          "photoUrl": "https://p.example/1", "linkedAt": answer["account"]["createdAt"]}])
        self.assertEqual(answer["providerTokens"], {"accessToken": "secret token"})
        self.asking("google.com", {"/tokeninfo": page({"aud": "shop", "sub": "g1", "email": "dora@gmail.com", "email_verified": "true"})})
        dora = self.sidecar.call("signIn.withCredential", self.with_access_token("google.com"))["account"]
        self.assertEqual((dora["email"], dora["emailVerified"]), ("dora@gmail.com", True))

    def test_github_token_is_verified_with_client_secret(self):
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

    def test_invalid_access_tokens_are_rejected(self):
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
    def test_client_secret_is_not_readable(self):
        secret = "hush-" + secrets.token_hex(8)
        sidecar = self.spawn(testing=True, store=self.path("s.db"))
        settings = {"providerId": "github.com", "clientId": "shop", "clientSecret": secret}
        answers = [sidecar.call("idp.create", settings), sidecar.call("idp.get", {"providerId": "github.com"}), sidecar.call("audit.list", {}), sidecar.call("system.apply", {"idps": [settings]})]
        sidecar.call("idp.update", {"providerId": "github.com", "clientSecret": secret + "2"})
        self.assertNotIn(secret, json.dumps(answers))
        for suffix in ("", "-wal"):
            with open(self.path("s.db" + suffix), "rb") as file:
                self.assertNotIn(secret.encode(), file.read())

    def test_unknown_key_id_does_not_prevent_fetch_of_new_key(self):
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
        # The number of fetches for unknown key IDs is limited. Above the limit, tokens are no longer reported as invalid.
        types = [self.sidecar.refusal("signIn.withCredential", credential(kid=secrets.token_hex(8))).type for _ in range(20)]
        self.assertEqual((types[0], types[-1]), ("invalidCredential", "providerUnavailable"))
        self.assertLess(site.count(KEYS), 12)
        self.assertEqual(self.sidecar.call("signIn.withCredential", credential(subject="dora"))["state"], "completed")
