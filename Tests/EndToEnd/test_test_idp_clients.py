"""The identity provider for tests and its clients: issued tokens, rejected requests, and responses that a test enqueues."""

import json
import socket
import threading
import urllib.parse

import jwt

from endtoend import only
from loginform import Person
from test_test_idp import BACK, PASSWORD, WithProvider, query

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


class Clients(WithProvider):
    @only("sqlite", "postgres")
    def test_refresh_tokens_rotate_and_reuse_ends_the_session(self):
        self.account()
        self.assertNotIn("refresh_token", self.tokens())
        first = self.tokens(scope="openid email offline_access", prompt="login")["refresh_token"]
        form = {"grant_type": "refresh_token", "client_id": "shop"}
        second = self.token(refresh_token=first, **form)[1]
        self.assertEqual(second["scope"], "openid email offline_access")
        self.assertEqual(self.token(refresh_token=second["refresh_token"], scope="openid", **form)[1]["scope"], "openid")
        self.no_token("invalid_scope", refresh_token=second["refresh_token"], scope="openid admin", **form)
        self.sidecar.call("test.clock", {"advanceSeconds": 60})
        self.no_token("invalid_grant", refresh_token=first, **form)   # the token is reused after its successor was used
        self.assertEqual(self.userinfo(second["access_token"])[0], 401)
        self.no_token("invalid_grant", grant_type="refresh_token", client_id="other", refresh_token=self.tokens(scope="openid offline_access", prompt="login")["refresh_token"])

    def test_signed_in_browser_needs_no_new_login_unless_the_request_demands_it(self):
        account = self.account()
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).back["error"], "login_required")
        first = self.verified(self.tokens()["id_token"])
        self.sidecar.call("test.clock", {"advanceSeconds": 100})
        again = self.person.open(self.authorize_url(client_id="desk", prompt="none"))
        self.assertEqual(again.status, 302)
        _, answer, _ = self.token(grant_type="authorization_code", code=again.back["code"], redirect_uri=BACK, client_id="desk")
        claims = self.verified(answer["id_token"], "desk")
        self.assertEqual((claims["sub"], claims["auth_time"]), (account["accountId"], first["auth_time"]))
        for more in ({"prompt": "login"}, {"max_age": "60"}, {"login_hint": "bob@example.com"}):
            page = self.person.open(self.authorize_url(**more))
            self.assertEqual((page.status, page.parsed.title), (200, "Sign in"), more)
        self.assertEqual(page.parsed.forms[0]["fields"]["email"], "bob@example.com")
        self.assertEqual(self.person.open(self.authorize_url(max_age="60", prompt="none")).back["error"], "login_required")
        self.sidecar.call("session.revokeAll", {"accountId": account["accountId"]})
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).back["error"], "login_required")

    def test_sign_out_ends_the_session(self):
        self.account()
        tokens = self.tokens(scope="openid offline_access")
        out = self.issuer + "/logout?" + urllib.parse.urlencode({"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": "http://127.0.0.1:9/bye?a=b", "state": "s 2"})
        self.assertEqual(query(self.person.open(out).headers["Location"]), {"a": "b", "state": "s 2"})
        self.no_token("invalid_grant", grant_type="refresh_token", client_id="shop", refresh_token=tokens["refresh_token"])
        self.assertEqual(self.userinfo(tokens["access_token"])[0], 401)
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).back["error"], "login_required")
        # Without `id_token_hint`, the user must confirm the sign-out.
        self.tokens()
        page = self.person.open(self.issuer + "/logout")
        self.assertEqual(page.parsed.title, "Sign out?")
        self.assertIn("alice@example.com", page.text)
        self.assertIn("code", self.person.open(self.authorize_url(prompt="none")).back)
        self.assertEqual(self.person.open(self.issuer + "/logout", {"step": "logout"}, Origin="http://evil.example").status, 403)
        self.assertEqual(self.person.send(page).parsed.title, "You are signed out")
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).back["error"], "login_required")
        self.assertEqual(self.person.open(self.issuer + "/logout?post_logout_redirect_uri=http://127.0.0.1:9/").status, 400)

    def test_enqueued_claims_and_errors_are_returned_next(self):
        self.account()
        enqueue = lambda **params: self.sidecar.call("test.enqueue", params)["waiting"]
        enqueue(claims={"roles": ["admin"], "name": None, "email": "other@example.com"})
        waiting = enqueue(issuer=self.issuer, error={"code": "invalid_grant", "description": "No more."})
        self.assertEqual([list(each) for each in waiting], [["claims"], ["error"]])
        enqueue(error={"code": "temporarily_unavailable", "status": 503, "endpoint": "jwks"})
        enqueue(error={"code": "access_denied", "endpoint": "authorize"})
        self.assertEqual(self.person.open(self.authorize_url()).back, {"error": "access_denied", "state": "s-1", "iss": self.issuer})
        answer = self.tokens(scope="openid email profile offline_access")
        self.assertEqual(self.person.open(self.idp["issuers"][0]["jwksUrl"]).status, 503)
        for token in ("id_token", "access_token"):
            claims = self.verified(answer[token])
            self.assertEqual((claims["roles"], claims["email"], "name" in claims), (["admin"], "other@example.com", False))
        told = self.userinfo(answer["access_token"])[1]
        self.assertEqual((told["roles"], told["email"], "name" in told), (["admin"], "other@example.com", False))
        form = {"grant_type": "refresh_token", "client_id": "shop", "refresh_token": answer["refresh_token"]}
        self.assertEqual(self.no_token("invalid_grant", **form), "No more.")
        self.assertNotIn("roles", self.verified(self.token(**form)[1]["id_token"]))
        self.assertEqual(enqueue(), [])
        enqueue(claims={"a": 1})
        self.assertEqual(enqueue(claims={"b": 2}, clear=True), [{"claims": {"b": 2}}])
        self.refused("issuerNotFound", self.sidecar, "test.enqueue", {"issuer": "nobody", "claims": {}})

    def test_registered_clients_must_authenticate(self):
        self.account()
        staff = self.sidecar.call("test.idp", {"issuers": [{
            "name": "staff", "tenantId": "default", "clients": [
                {"clientId": "desk", "clientSecret": "s p&1:ü", "redirectUris": [BACK]}, {"clientId": "spa", "redirectUris": [BACK]}]}]})["issuer"]
        self.assertEqual(staff, self.idp["baseUrl"] + "/staff")
        for words, more in {"Unknown client shop": {}, "has no redirect URI": {"client_id": "desk", "redirect_uri": BACK + "/"}}.items():
            page = self.person.open(self.authorize_url(staff, **more))
            self.assertEqual((page.status, page.headers["Location"]), (400, None))
            self.assertIn(words, page.text)
        self.assertEqual(self.person.open(self.authorize_url(staff, client_id="spa")).back["error"], "invalid_request")
        code = self.log_in(self.authorize_url(staff, client_id="desk")).back["code"]
        form = {"issuer": staff, "grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
        secret = urllib.parse.quote_plus("s p&1:ü")
        for more in ({"client_id": "desk"}, {"client_id": "desk", "client_secret": "wrong"}, {"client_id": "shop"}, {}, {"basic": "desk:wrong"}, {"basic": "desk"}):
            self.no_token("invalid_client", 401, **form, **more)
        self.no_token("invalid_request", basic=f"desk:{secret}", client_secret="s p&1:ü", **form)
        status, answer, _ = self.token(basic=f"desk:{secret}", **form)
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.verified(answer["id_token"], "desk", staff)["iss"], staff)
        status, _, headers = self.token(issuer=staff, grant_type="client_credentials", client_id="desk", client_secret="s p&1:ü")
        self.assertEqual((status, headers["Cache-Control"]), (200, "no-store"))
        self.no_token("unauthorized_client", issuer=staff, grant_type="client_credentials", client_id="spa")

    def test_device_flow_waits_slows_down_and_completes(self):
        account = self.account()
        begin = lambda: json.loads(self.person.open(self.issuer + "/device", {"client_id": "tv", "scope": "openid offline_access"}).body)
        device = begin()
        poll = {"grant_type": DEVICE, "device_code": device["device_code"], "client_id": "tv"}
        self.no_token("authorization_pending", **poll)
        # The polling interval is also measured in real time. On a slow machine, some of these polls are not too early.
        self.assertIn("slow_down", [self.token(**poll)[1]["error"] for _ in range(5)])
        self.sidecar.call("test.clock", {"advanceSeconds": 31})
        self.no_token("authorization_pending", **poll)
        page = self.person.open(device["verification_uri"])
        self.assertEqual(page.parsed.title, "Sign in on a device")
        self.assertIn("No device is waiting", self.person.open(device["verification_uri"] + "?user_code=AAAA-AAAA").text)
        page = self.person.open(device["verification_uri"] + "?user_code=" + device["user_code"].lower().replace("-", "+"))
        self.assertIn("tv asks who you are", page.text)
        page = self.person.send(page, email="alice@example.com", password=PASSWORD)
        self.assertEqual(page.parsed.title, "The device is signed in")
        status, answer, _ = self.token(**poll)
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.verified(answer["id_token"], "tv")["sub"], account["accountId"])
        self.assertIn("refresh_token", answer)
        self.no_token("invalid_grant", **poll)
        second = begin()
        page = self.person.open(second["verification_uri_complete"])
        self.person.send(page, form=len(page.parsed.forms) - 1)
        self.no_token("access_denied", **{**poll, "device_code": second["device_code"]})
        third = begin()
        self.sidecar.call("test.clock", {"advanceSeconds": 601})
        self.no_token("expired_token", **{**poll, "device_code": third["device_code"]})

    def test_issuers_of_tenants_can_be_passwordless(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.sidecar.call("account.create", {"tenantId": "shop", "username": "dave@example.com"})
        shop = self.idp["baseUrl"] + "/shop"
        self.assertEqual(self.discovery(shop)["issuer"], shop)
        self.sidecar.call("test.idp", {"issuers": [{"name": "shop", "passwordless": True}, {"name": "open", "tenantId": "shop", "passwordless": True, "createAccounts": True}]})
        page = self.person.open(self.authorize_url(shop))
        self.assertNotIn("password", page.fields)
        self.assertIn(("email", "dave@example.com"), page.parsed.forms[1]["buttons"])
        self.assertIn("code", self.person.send(page, form=1, email="dave@example.com").back)
        self.assertIn("has this email address", self.person.send(self.person.open(self.authorize_url(shop, prompt="login")), email="erin@example.com").text)
        opened = self.idp["baseUrl"] + "/open"
        code = self.person.send(self.person.open(self.authorize_url(opened)), email="erin@example.com").back["code"]
        answer = self.token(opened, grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")[1]
        self.assertEqual(self.verified(answer["id_token"], issuer=opened)["email"], "erin@example.com")
        self.assertEqual(self.userinfo(answer["access_token"], shop)[0], 401)
        self.refused("tenantNotFound", self.sidecar, "test.idp", {"issuers": [{"name": "nobody", "tenantId": "nobody"}]})

    def test_configured_issuers_are_listed_first(self):
        given = self.sidecar.call("test.idp", {"issuers": [{"name": "staff", "tenantId": "default"}, {"name": "shop", "tenantId": "default"}]})
        self.assertEqual([each["name"] for each in given["issuers"]], ["staff", "shop", "default"])
        for member in ("issuer", "discoveryUrl", "jwksUrl"):
            self.assertEqual(given[member], given["issuers"][0][member])
        self.assertEqual(self.get(given["discoveryUrl"])["jwks_uri"], given["jwksUrl"])
        again = self.sidecar.call("test.idp", {"issuers": [{"name": "shop", "tenantId": "default"}]})
        self.assertEqual([each["name"] for each in again["issuers"]], ["shop", "staff", "default"])
        usual = self.sidecar.call("test.idp")
        self.assertEqual([each["name"] for each in usual["issuers"]], ["default", "staff", "shop"])
        self.assertEqual(usual["issuer"], usual["issuers"][0]["issuer"])

    def test_standalone_issuer_has_separate_keys(self):
        """Serves a test that every service needs: it must reject tokens of issuers that it does not trust."""
        self.account()
        foreign = self.sidecar.call("test.idp", {"issuers": [{"name": "foreign", "passwordless": True, "createAccounts": True}]})
        own = {key["kid"] for key in self.get(self.idp["jwksUrl"])["keys"]}
        keys = {key["kid"] for key in self.get(foreign["jwksUrl"])["keys"]}
        self.assertEqual((len(keys), own & keys), (1, set()))
        token = self.sidecar.call("test.token", {"issuer": foreign["issuer"], "subject": "mallory", "audience": "shop"})["token"]
        claims = jwt.decode(token, jwt.PyJWKClient(foreign["jwksUrl"]).get_signing_key_from_jwt(token), ["ES256"], audience="shop", issuer=foreign["issuer"])
        self.assertEqual(claims["sub"], "mallory")
        self.assertRaises(jwt.PyJWKClientError, jwt.PyJWKClient(self.idp["jwksUrl"]).get_signing_key_from_jwt, token)
        # A service that trusts only the first issuer rejects the token. So does a pool of this process with that provider.
        pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [{"issuer": self.issuer, "clientIds": ["shop"], "allowInsecure": True}]})["poolId"]
        for login in (self.issuer, foreign["issuer"]):
            self.refused({"loginTokenInvalid", "unsupportedLoginProvider"}, self.sidecar, "identity.resolve", {"poolId": pool, "logins": {login.removeprefix("http://"): token}})
        # The accounts of the issuer are separate.
        code = self.person.send(self.person.open(self.authorize_url(foreign["issuer"])), email="alice@example.com").back["code"]
        answer = self.token(foreign["issuer"], grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")[1]
        there = self.verified(answer["id_token"], issuer=foreign["issuer"])
        self.assertNotEqual(there["sub"], self.sidecar.call("account.find", {"username": "alice@example.com"})["accountId"])
        # Repeating the call returns the same issuer.
        self.sidecar.call("test.idp", {"issuers": [{"name": "foreign"}]})
        self.assertEqual({key["kid"] for key in self.get(foreign["jwksUrl"])["keys"]}, keys)
        self.refused("tenantNotFound", self.sidecar, "test.idp", {"issuers": [{"name": "no~tenant"}]})

    def test_standalone_issuer_signs_with_the_algorithm_of_the_default_tenant(self):
        foreign = self.sidecar.call("test.idp", {"issuers": [{"name": "foreign"}]})
        algorithms = [self.discovery(each)["id_token_signing_alg_values_supported"] for each in (self.issuer, foreign["issuer"])]
        self.assertEqual(algorithms[0], algorithms[1])

    def test_key_rotation_and_arbitrary_tokens(self):
        account = self.account()
        old = self.tokens()["id_token"]
        self.sidecar.call("key.rotate", {"tenantId": "default", "activateAfterSeconds": 0})
        new = self.tokens(prompt="login")["id_token"]
        self.assertNotEqual(*[jwt.get_unverified_header(each)["kid"] for each in (old, new)])
        self.assertEqual({self.verified(each)["sub"] for each in (old, new)}, {account["accountId"]})
        made = {"issuer": self.issuer, "subject": account["accountId"], "audience": "shop", "use": "access", "claims": {"scope": "openid email"}}
        token = self.sidecar.call("test.token", made)["token"]
        self.assertEqual(self.verified(token)["iss"], self.issuer)
        self.assertEqual(self.userinfo(token)[1], {"sub": account["accountId"], "email": "alice@example.com", "email_verified": True})
        self.assertEqual(self.userinfo(self.sidecar.call("test.token", {**made, "expiresInSeconds": -1})["token"])[0], 401)
        self.assertEqual(self.userinfo(self.sidecar.call("test.token", {**made, "keyState": "wrong"})["token"])[0], 401)

    def test_stop_keeps_the_state_and_reset_clears_it(self):
        self.account()
        tokens = self.tokens(scope="openid offline_access")
        down = self.sidecar.call("test.idp", {"stop": True})
        self.assertEqual((down["running"], down["baseUrl"]), (False, self.idp["baseUrl"]))
        with self.assertRaises(OSError):
            self.discovery()
        up = self.sidecar.call("test.idp", {})
        self.assertEqual((up["running"], up["baseUrl"]), (True, self.idp["baseUrl"]))
        self.assertEqual(self.userinfo(tokens["access_token"])[0], 200)
        self.assertEqual(self.sidecar.call("test.idp", {"port": urllib.parse.urlsplit(self.issuer).port}), up)
        self.sidecar.call("test.enqueue", {"error": {"code": "server_error"}})
        self.sidecar.call("test.idp", {"issuers": [{"name": "default", "clients": [{"clientId": "only"}]}, {"name": "staff", "tenantId": "default"}]})
        self.sidecar.call("test.reset")
        self.assertEqual(self.sidecar.call("test.enqueue")["waiting"], [])
        self.assertEqual([each["name"] for each in self.sidecar.call("test.idp")["issuers"]], ["default"])
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).back["error"], "login_required")
        self.no_token("invalid_grant", grant_type="refresh_token", client_id="shop", refresh_token=tokens["refresh_token"])
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.refused("portUnavailable", self.spawn(testing=True), "test.idp", {"port": taken.getsockname()[1]})
        self.refused("methodNotFound", self.spawn(), "test.idp", {})


class BadRequests(WithProvider):
    def test_invalid_authorize_request_fails(self):
        for wanted, more in [
                ("unsupported_response_type", {"response_type": "token"}), ("invalid_request", {"response_mode": "fragment"}),
                ("request_not_supported", {"request": "x"}), ("request_uri_not_supported", {"request_uri": "https://x.example/"}),
                ("invalid_request", {"code_challenge": "short", "code_challenge_method": "S256"}), ("invalid_request", {"code_challenge_method": "S256"}),
                ("invalid_request", {"prompt": "none login"}), ("invalid_request", {"max_age": "soon"}), ("invalid_request", {"response_type": ""})]:
            page = self.person.open(self.authorize_url(**more))
            self.assertEqual((page.status, page.back["error"], page.back["state"]), (302, wanted, "s-1"), more)
            self.assertTrue(page.back["error_description"].strip())
        self.assertEqual(self.person.open(self.authorize_url() + "&state=other").back["error"], "invalid_request")
        for more in ({"redirect_uri": "javascript:alert(1)"}, {"redirect_uri": "/back"}, {"redirect_uri": BACK + "#x"}, {"redirect_uri": ""}, {"client_id": ""}):
            page = self.person.open(self.authorize_url(**more))
            self.assertEqual((page.status, page.headers["Location"]), (400, None), more)
            self.assertIn("The app that sent you here must correct its request.", page.text)

    def test_request_values_are_escaped_in_pages(self):
        evil = '"><script>alert(1)</script>'
        for url in (self.authorize_url(client_id=evil, state=evil, login_hint=evil), self.authorize_url(redirect_uri="data:" + evil),
                    self.issuer + "/activate?" + urllib.parse.urlencode({"user_code": evil})):
            page = self.person.open(url)
            self.assertNotIn("<script", page.body)
            self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
        page = self.person.send(self.person.open(self.authorize_url()), email=evil, password=evil)
        self.assertNotIn("<script", page.body)
        self.assertEqual(self.person.open(self.authorize_url(), {"step": "address", "email": "a@example.com"}, Origin="http://evil.example").status, 403)

    def test_form_post_response_mode_returns_a_form(self):
        self.account()
        page = self.log_in(self.authorize_url(response_mode="form_post"))
        form = page.parsed.forms[0]
        self.assertEqual((page.status, form["action"], set(form["fields"])), (200, BACK, {"code", "state", "iss"}))
        page = self.person.open(self.issuer + "/authorize", {"client_id": "shop", "redirect_uri": BACK, "response_type": "code", "scope": "openid"})
        self.assertIn("code", page.back)

    def test_cross_origin_requests_are_allowed_except_for_pages(self):
        for path in ("/.well-known/openid-configuration", "/jwks", "/userinfo"):
            self.assertEqual(self.person.open(self.issuer + path).headers["Access-Control-Allow-Origin"], "*")
        self.assertEqual(self.token(grant_type="x", client_id="x")[2]["Access-Control-Allow-Origin"], "*")
        with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(self.issuer).port), timeout=60) as ask:
            ask.sendall(b"OPTIONS /default/token HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = ask.makefile("rb").read()
        self.assertTrue(answer.startswith(b"HTTP/1.1 204"), answer)
        self.assertIn(b"access-control-allow-headers: authorization", answer)
        self.assertIsNone(self.person.open(self.authorize_url()).headers["Access-Control-Allow-Origin"])

    def test_invalid_requests_fail_and_the_process_continues(self):
        self.assertEqual(self.person.open(self.idp["baseUrl"]).status, 200)
        self.assertIn("neither a tenant", self.person.open(self.idp["baseUrl"] + "/nobody/jwks").body)
        self.assertIn(self.issuer + "/token", self.person.open(self.issuer + "/nothing").body)
        self.assertEqual(self.person.open(self.issuer + "/token").status, 405)
        answer = self.person.open(self.issuer + "/token", {"a": 1}, **{"Content-Type": "application/json"})
        self.assertIn("Send a form", json.loads(answer.body)["error_description"])
        self.no_token("unsupported_grant_type", grant_type="password", client_id="shop")
        self.no_token("invalid_request", client_id="shop")
        for path in ("/%00/jwks", "/default/%ff", "/default/authorize?client_id=%ff", "/default/..", "/.well-known/x/default"):
            self.assertIn(self.person.open(self.idp["baseUrl"] + path).status, (400, 404), path)
        self.assertEqual(self.get(self.idp["baseUrl"] + "/.well-known/oauth-authorization-server/default")["issuer"], self.issuer)
        self.works(self.sidecar)

    def test_concurrent_logins_succeed(self):
        self.account()
        outcomes = []
        def one():
            person = Person()
            back = self.log_in(self.authorize_url(), person=person).back
            outcomes.append(self.token(grant_type="authorization_code", code=back["code"], redirect_uri=BACK, client_id="shop")[0])
        threads = [threading.Thread(target=one) for _ in range(16)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(outcomes, [200] * 16)
