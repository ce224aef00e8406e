"""Tokens of the identity provider for tests: client credentials, token exchange, introspection, revocation and UserInfo."""

import json

import jwt

from test_test_idp import BACK, PASSWORD, WithProvider

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"
ID = "urn:ietf:params:oauth:token-type:id_token"
TXN = "urn:ietf:params:oauth:token-type:txn_token"


class Tokens(WithProvider):
    def test_client_credentials_and_token_exchange_with_a_chain_of_actors(self):
        account = self.account()
        own = self.token(grant_type="client_credentials", client_id="job", client_secret="x", scope="stock:read", audience="stock")[1]
        claims = self.verified(own["access_token"], "stock")
        self.assertEqual((claims["sub"], claims["client_id"], claims["scope"], "sid" in claims), ("job", "job", "stock:read", False))
        self.assertEqual(self.userinfo(own["access_token"])[0], 403)
        user = self.tokens(scope="openid orders:read", audience="front")["access_token"]
        form = {"grant_type": EXCHANGE, "client_id": "front", "subject_token": user, "subject_token_type": ACCESS}
        answer = self.token(**form, audience="stock", actor_token=own["access_token"], actor_token_type=ACCESS, scope="orders:read")[1]
        self.assertEqual(answer["issued_token_type"], ACCESS)
        claims = self.verified(answer["access_token"], "stock")
        self.assertEqual((claims["sub"], claims["act"], claims["scope"]), (account["accountId"], {"sub": "job"}, "orders:read"))
        further = self.token(**{**form, "subject_token": answer["access_token"]}, audience="mail", actor_token=own["access_token"], actor_token_type=ACCESS)[1]
        self.assertEqual(self.verified(further["access_token"], "mail")["act"], {"sub": "job", "act": {"sub": "job"}})
        self.no_token("invalid_scope", **form, scope="orders:write")
        self.no_token("invalid_request", **{**form, "subject_token": user[:-4] + "AAAA"})
        self.no_token("invalid_request", **{**form, "subject_token_type": "urn:ietf:params:oauth:token-type:saml2"})
        self.sidecar.call("session.revokeAll", {"accountId": account["accountId"]})
        self.assertIn("session was ended", self.no_token("invalid_request", **form))

    def test_only_the_actor_of_may_act_gets_the_token(self):
        """The tenant permits an actor, and the provider keeps to it."""
        users = [self.account()["accountId"], self.account("agent@example.com")["accountId"], self.account("rogue@example.com")["accountId"]]
        held = [self.sidecar.call("signIn.withPassword", {"username": name + "@example.com", "password": PASSWORD}) for name in ("alice", "agent", "rogue")]
        granted = self.sidecar.call("token.delegate", {"idToken": held[0]["idToken"], "actor": {"sub": users[1]}})["token"]
        form = {"grant_type": EXCHANGE, "client_id": "front", "subject_token": granted, "subject_token_type": ACCESS, "audience": "stock"}
        acting = [{"actor_token": each["idToken"], "actor_token_type": ID} for each in held]
        answer = self.token(**form, **acting[1])[1]
        claims = self.verified(answer["access_token"], "stock")
        self.assertEqual((claims["sub"], claims["act"], "may_act" in claims), (users[0], {"sub": users[1]}, False))
        self.assertIn("may_act", self.no_token("invalid_request", **form))
        for actor in (acting[0], acting[2]):
            self.assertIn("another actor", self.no_token("invalid_request", **form, **actor))
        for bad in ("agent", [], {}, {"sub": 7}):
            made = self.sidecar.call("test.token", {"issuer": self.issuer, "subject": users[0], "use": "access", "audience": "front", "claims": {"may_act": bad}})["token"]
            self.assertIn("not an object with sub", self.no_token("invalid_request", **{**form, "subject_token": made}, **acting[1]))
        for permission in ({"sub": users[1], "client_id": "another"}, {"sub": users[1], "iss": "https://other.example"}, {"sub": users[1], "role": "admin"}):
            made = self.sidecar.call("test.token", {"issuer": self.issuer, "subject": users[0], "use": "access", "audience": "front", "claims": {"may_act": permission}})["token"]
            self.assertIn("another actor", self.no_token("invalid_request", **{**form, "subject_token": made}, **acting[1]))

    def test_token_has_at_most_four_actors(self):
        self.account()
        actor = self.token(grant_type="client_credentials", client_id="job", client_secret="x", audience="stock")[1]["access_token"]
        token = self.tokens(scope="openid", audience="front")["access_token"]
        form = {"grant_type": EXCHANGE, "client_id": "front", "subject_token_type": ACCESS, "actor_token": actor, "actor_token_type": ACCESS}
        for _ in range(4):
            token = self.token(**form, subject_token=token)[1]["access_token"]
        self.assertIn("at most 4", self.no_token("invalid_request", **form, subject_token=token))

    def test_transaction_token_carries_the_request_through_a_trust_domain(self):
        user = self.account()["accountId"]
        form = {"grant_type": EXCHANGE, "client_id": "gateway", "client_secret": "x", "subject_token": self.tokens(scope="openid trade.stocks")["access_token"],
                "subject_token_type": ACCESS, "requested_token_type": TXN, "audience": "shop.internal", "scope": "trade.stocks",
                "request_context": '{"req_ip": "203.0.113.7"}', "request_details": '{"action": "BUY", "quantity": 100}'}
        status, answer, _ = self.token(**form)
        self.assertEqual((status, answer["token_type"], answer["issued_token_type"], answer["expires_in"]), (200, "N_A", TXN, 300), answer)
        self.assertEqual(jwt.get_unverified_header(answer["access_token"])["typ"], "txntoken+jwt")
        claims = self.verified(answer["access_token"], "shop.internal")
        self.assertEqual((claims["sub"], claims["req_wl"], claims["scope"], claims["rctx"], claims["tctx"]), (
            user, "gateway", "trade.stocks", {"req_ip": "203.0.113.7"}, {"action": "BUY", "quantity": 100}))
        self.assertNotEqual(self.verified(self.token(**form)[1]["access_token"], "shop.internal")["txn"], claims["txn"])
        for wanted, more in (
                ("invalid_scope", {"scope": "admin"}), ("invalid_scope", {"scope": ""}), ("invalid_target", {"audience": ""}),
                ("invalid_request", {"request_context": "[]"}), ("invalid_request", {"request_details": "x"}),
                ("invalid_request", {"request_details": '{"a": "%s"}' % ("x" * 5000)}), ("invalid_request", {"actor_token": form["subject_token"], "actor_token_type": ACCESS})):
            self.no_token(wanted, **{**form, **more})
        # It is not an access token, and cannot be exchanged again.
        self.no_token("invalid_request", **{**form, "subject_token": answer["access_token"]})
        self.assertEqual(self.userinfo(answer["access_token"])[0], 401)
        looked = self.person.open(self.issuer + "/introspect", {"client_id": "shop", "token": answer["access_token"]})
        self.assertEqual(json.loads(looked.body), {"active": False})

    def test_tokens_can_be_introspected_and_revoked(self):
        self.account()
        answer = self.tokens(scope="openid email offline_access")
        look = lambda token: json.loads(self.person.open(self.issuer + "/introspect", {"client_id": "shop", "token": token}).body)
        back = lambda token, client="shop": self.person.open(self.issuer + "/revoke", {"client_id": client, "token": token}).status
        self.assertEqual((look(answer["access_token"])["active"], look(answer["access_token"])["scope"]), (True, "openid email offline_access"))
        self.assertEqual((look(answer["refresh_token"])["active"], look("rubbish")), (True, {"active": False}))
        self.assertEqual((back(answer["access_token"], "other"), back("rubbish"), back(answer["access_token"])), (400, 200, 200))
        self.assertEqual(look(answer["access_token"]), {"active": False})
        status, _, headers = self.userinfo(answer["access_token"])
        self.assertEqual(status, 401)
        self.assertIn('error="invalid_token"', headers["WWW-Authenticate"])
        self.assertEqual(back(answer["refresh_token"]), 200)
        self.assertEqual(look(answer["refresh_token"]), {"active": False})
        self.assertEqual(self.person.open(self.issuer + "/userinfo").headers["WWW-Authenticate"], 'Bearer realm="mintmark"')

    def test_claims_do_not_override_the_introspection_result(self):
        self.account()
        self.sidecar.call("test.enqueue", {"claims": {"active": False, "token_type": "mac", "roles": ["admin"]}})
        token = self.tokens()["access_token"]
        answer = json.loads(self.person.open(self.issuer + "/introspect", {"client_id": "shop", "token": token}).body)
        self.assertEqual((answer["active"], answer["token_type"], answer["roles"]), (True, "Bearer", ["admin"]))

    def test_userinfo_rejects_a_token_without_openid_scope_or_sent_twice(self):
        self.account()
        status, answer, headers = self.userinfo(self.tokens(scope="email")["access_token"])
        self.assertEqual((status, answer["error"]), (403, "insufficient_scope"))
        self.assertRegex(headers["WWW-Authenticate"], '^Bearer realm="mintmark", error="insufficient_scope", error_description=')
        token = self.tokens(prompt="login")["access_token"]
        twice = self.person.open(self.issuer + "/userinfo", {"access_token": token}, Authorization=f"Bearer {token}")
        self.assertEqual((twice.status, json.loads(twice.body)["error"]), (400, "invalid_request"))
        self.assertEqual(self.person.open(self.issuer + "/userinfo", {"access_token": token}).status, 200)

    def test_introspection_requires_a_client_secret_if_clients_are_registered(self):
        clients = [{"clientId": "app", "redirectUris": [BACK]}, {"clientId": "api", "clientSecret": "s"}]
        issuer = self.sidecar.call("test.idp", {"issuers": [{"name": "strict", "tenantId": "default", "clients": clients}]})["issuer"]
        refused = self.person.open(issuer + "/introspect", {"client_id": "app", "token": "x"})
        self.assertEqual((refused.status, json.loads(refused.body)["error"]), (401, "invalid_client"))
        looked = self.person.open(issuer + "/introspect", {"client_id": "api", "client_secret": "s", "token": "x"})
        self.assertEqual((looked.status, json.loads(looked.body)), (200, {"active": False}))
