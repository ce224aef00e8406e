"""The identity provider for tests of a service, with a Flask service that verifies tokens with PyJWT."""

import asyncio
import base64
import hashlib
import json
import logging
import secrets
import textwrap
import threading
import unittest
import urllib.parse
import urllib.request

import flask
import httpx
import jwt
import test_pytest
from mintmark.testing import AsyncIdentityProvider, AsyncTestingMintmark, IdentityProvider, TestingMintmark
from support import ClientTest
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)


def fetch(url, form=None):
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(url, urllib.parse.urlencode(form).encode() if form else None, timeout=60) as answer:
        return json.load(answer)


def service(issuer, jwks_url, discovery_url, audience, response_mode=None):
    """A service that signs users in at one issuer, and whose API trusts access tokens of this issuer."""
    app = flask.Flask(__name__)
    app.secret_key = "a secret of the test"
    keys = jwt.PyJWKClient(jwks_url, cooldown_duration=0)

    def verified(token, audience, **options):
        return jwt.decode(
            token, keys.get_signing_key_from_jwt(token), algorithms=["ES256"], issuer=issuer, audience=audience,
            options={"require": ["exp", "iss", "aud", "sub"]}, **options)

    @app.get("/orders")
    def orders():
        try:
            claims = verified(flask.request.headers.get("Authorization", "").removeprefix("Bearer "), audience)
        except jwt.PyJWTError as error:
            return {"error": type(error).__name__}, 401
        return {"customer": claims["sub"], "roles": claims.get("roles", [])}

    @app.get("/login")
    def login():
        verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        flask.session.update(verifier=verifier, state=state, nonce=nonce)
        query = {"client_id": "shop", "response_type": "code", "redirect_uri": flask.url_for("back", _external=True), "scope": "openid email",
                 "state": state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256"}
        if response_mode:
            query["response_mode"] = response_mode
        return flask.redirect(fetch(discovery_url)["authorization_endpoint"] + "?" + urllib.parse.urlencode(query))

    @app.route("/back", methods=["GET", "POST"])
    def back():
        given = flask.request.values
        if given.get("state") != flask.session.pop("state", None):
            return "wrong state", 400
        form = {"grant_type": "authorization_code", "code": given["code"], "redirect_uri": flask.url_for("back", _external=True),
                "client_id": "shop", "code_verifier": flask.session.pop("verifier")}
        claims = verified(fetch(fetch(discovery_url)["token_endpoint"], form)["id_token"], "shop")
        if claims["nonce"] != flask.session.pop("nonce"):
            return "wrong nonce", 400
        flask.session["user"] = {"email": claims["email"], "roles": claims.get("roles", [])}
        return flask.redirect("/me")

    @app.get("/me")
    def me():
        return flask.session["user"] if "user" in flask.session else ({"error": "not signed in"}, 401)

    @app.get("/other")
    def other():
        return flask.redirect("/nowhere")

    return app


class Provider(ClientTest):
    def setUp(self):
        super().setUp()
        self.m = TestingMintmark()
        self.addCleanup(self.m.close)
        self.idp = IdentityProvider(self.m)
        self.app = self.service()
        self.client = self.app.test_client()

    def service(self, **more):
        return service(self.idp.issuer, self.idp.jwks_url, self.idp.discovery_url, self.idp.audience, **more)

    def serve(self):
        server = make_server("127.0.0.1", 0, self.app, threaded=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def orders(self, token):
        answer = self.client.get("/orders", headers={"Authorization": f"Bearer {token}"})
        return answer.status_code, answer.json.get("customer") or answer.json["error"]

    def test_only_valid_tokens_of_the_issuer_are_accepted(self):
        self.assertEqual(self.orders(self.idp.token()), (200, "test-user"))
        self.assertEqual(self.orders(self.idp.token("alice", claims={"roles": ["admin"]})), (200, "alice"))
        self.assertEqual(self.orders(self.idp.expired()), (401, "ExpiredSignatureError"))
        self.assertEqual(self.orders(self.idp.foreign()), (401, "PyJWKClientError"))
        self.assertEqual(self.orders(self.idp.token(audience="billing")), (401, "InvalidAudienceError"))
        self.assertEqual(self.orders(self.idp.token(key_state="wrong")), (401, "InvalidSignatureError"))

    def test_expired_token_has_expired_whatever_the_clock_of_mintmark_shows(self):
        for seconds in (7200, -14400):
            self.m.test.clock(advance_seconds=seconds)
            self.assertEqual(self.orders(self.idp.expired()), (401, "ExpiredSignatureError"))
            claims = jwt.decode(self.idp.expired(), options={"verify_signature": False})
            self.assertLess(claims["exp"], self.m.test.clock().now.timestamp())

    def test_clock_of_mintmark_does_not_move_the_clock_of_the_service(self):
        good = self.idp.token()
        self.m.test.clock(advance_seconds=7200)
        self.assertEqual(self.orders(good), (200, "test-user"))
        self.assertEqual(self.orders(self.idp.token()), (401, "ImmatureSignatureError"))

    def test_user_signs_in_with_each_kind_of_client(self):
        url = self.serve()
        answer = self.idp.login(url, "alice@example.com", claims={"roles": ["admin"]})
        self.assertEqual((answer.status_code, json.loads(answer.text)), (200, {"email": "alice@example.com", "roles": ["admin"]}))
        answer = self.idp.login(self.client, "bob@example.com")
        self.assertEqual((answer.status_code, answer.json), (200, {"email": "bob@example.com", "roles": []}))
        self.assertEqual(self.client.get("/me").json["email"], "bob@example.com")
        with httpx.Client(base_url=url, trust_env=False) as client:
            self.assertEqual(self.idp.login(client, "carol@example.com").json()["email"], "carol@example.com")
            self.assertEqual(client.get("/me").json()["email"], "carol@example.com")
        self.assertEqual(sorted(each.email for each in self.m.account.list().accounts), [f"{name}@example.com" for name in ("alice", "bob", "carol")])

    def test_login_sends_the_form_of_form_post(self):
        self.app = self.service(response_mode="form_post")
        self.assertEqual(self.idp.login(self.app.test_client(), "alice@example.com").json["email"], "alice@example.com")

    def test_login_of_a_user_who_is_refused_fails_with_the_words_of_the_page(self):
        account = self.m.account.create(username="dave@example.com")
        self.m.account.update(account_id=account.account_id, disabled=True)
        with self.assertRaisesRegex(AssertionError, "has not signed in dave@example.com: status [0-9]+, .+"):
            self.idp.login(self.client, "dave@example.com")

    def test_service_that_does_not_use_the_provider_is_named(self):
        for path, words in (("/me", "status 401 and no redirect"), ("/other", "status 404 and a redirect to /nowhere")):
            with self.assertRaisesRegex(AssertionError, f"{path} does not lead to the provider: .*{words}"):
                self.idp.login(self.client, "alice@example.com", path)


class AsyncProvider(ClientTest, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.m = await self.enterAsync(AsyncTestingMintmark())
        self.idp = await AsyncIdentityProvider.start(self.m)
        self.app = service(self.idp.issuer, self.idp.jwks_url, self.idp.discovery_url, self.idp.audience)
        self.client = self.app.test_client()

    async def enterAsync(self, context):
        self.addAsyncCleanup(context.__aexit__, None, None, None)
        return await context.__aenter__()

    serve, orders = Provider.serve, Provider.orders

    async def test_only_valid_tokens_of_the_issuer_are_accepted(self):
        for token, answer in (
            (await self.idp.token(), (200, "test-user")), (await self.idp.token("alice", claims={"roles": ["admin"]}), (200, "alice")),
            (await self.idp.expired("alice"), (401, "ExpiredSignatureError")), (await self.idp.foreign("alice"), (401, "PyJWKClientError")),
            (await self.idp.token(audience="billing"), (401, "InvalidAudienceError")),
        ):
            self.assertEqual(await asyncio.to_thread(self.orders, token), answer)

    async def test_user_signs_in_with_each_kind_of_client(self):
        url = self.serve()
        answer = await self.idp.login(url, "alice@example.com", claims={"roles": ["admin"]})
        self.assertEqual((answer.status_code, json.loads(answer.text)), (200, {"email": "alice@example.com", "roles": ["admin"]}))
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            self.assertEqual((await self.idp.login(client, "bob@example.com")).json()["email"], "bob@example.com")
            self.assertEqual((await client.get("/me")).json()["email"], "bob@example.com")

    async def test_login_that_fails_says_why(self):
        with self.assertRaisesRegex(AssertionError, "/me does not lead to the provider"):
            await self.idp.login(self.serve(), "alice@example.com", "/me")


class Fixture(ClientTest):
    run_tests = test_pytest.Plugin.run_tests

    def test_fixture_is_a_provider_with_the_store_of_the_test(self):
        self.assertIn("2 passed", self.run_tests(textwrap.dedent("""
            import jwt, pytest

            def claims(idp, token):
                key = jwt.PyJWKClient(idp.jwks_url).get_signing_key_from_jwt(token)
                return jwt.decode(token, key, algorithms=["ES256"], issuer=idp.issuer, audience=idp.audience)

            def test_first(mintmark, mintmark_idp):
                assert claims(mintmark_idp, mintmark_idp.token("alice"))["sub"] == "alice"
                with pytest.raises(jwt.ExpiredSignatureError):
                    claims(mintmark_idp, mintmark_idp.expired())
                with pytest.raises(jwt.PyJWTError):
                    claims(mintmark_idp, mintmark_idp.foreign())
                mintmark.account.create(username="alice@example.com")

            def test_second(mintmark, mintmark_idp):
                assert mintmark.account.list().accounts == []
                assert claims(mintmark_idp, mintmark_idp.token())["sub"] == "test-user"
        """), "mintmark_scope = session\n"))

