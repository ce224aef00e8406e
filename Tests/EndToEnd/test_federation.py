"""Sign-in with providers: what leads to which account, and that one person never gets into another's."""

import secrets

from federation import PASSWORD, Federation, hashed
from oidcmock import OIDCProviderMock
from test_logins import Provider, claims_of


class SignIn(Federation):
    """Where a login leads: the rows of the table, over the pipe."""

    def test_a_new_person_and_the_same_again(self):
        first = self.sign_in(email="Carol@Example.com", name="Carol", picture="https://p.example/c.png")
        self.assertTrue(first["isNewAccount"])
        account = first["account"]
        self.assertEqual((account["email"], account["emailVerified"], account["method"]), ("carol@example.com", False, "federated"))
        self.assertEqual(account["attributes"], {"displayName": "Carol", "picture": "https://p.example/c.png"})
        self.assertEqual(first["additionalUserInfo"]["profile"]["email"], "Carol@Example.com")
        self.assertNotIn("providerTokens", first)
        claims = claims_of(first["idToken"])
        self.assertEqual(claims["mintmark"]["sign_in_provider"], "oidc.work")
        self.assertEqual(claims["mintmark"]["identities"], {"email": ["carol@example.com"], "oidc.work": ["carol"]})
        self.assertEqual((claims["amr"], claims["name"], claims["picture"]), (["fed"], "Carol", "https://p.example/c.png"))
        again = self.sign_in(email="new@example.com", name="Caroline")
        self.assertFalse(again["isNewAccount"])
        self.assertEqual((again["account"]["email"], again["account"]["attributes"]["displayName"]), ("carol@example.com", "Carol"))
        self.assertEqual(again["account"]["providers"][0]["email"], "new@example.com")
        refreshed = self.sidecar.call("session.refresh", {"refreshToken": again["refreshToken"]})
        self.assertEqual(claims_of(refreshed["idToken"])["mintmark"]["sign_in_provider"], "oidc.work")
        sessions = self.sidecar.call("session.list", {"accountId": account["accountId"]})["sessions"]
        self.assertEqual({each["signInProvider"] for each in sessions}, {"oidc.work"})

    def test_a_trusted_provider_leads_to_the_verified_address_and_brings_its_profile(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account, _ = self.password_account()
        answer = self.sign_in(trusted, email="carol@example.com", email_verified=True, name="Carol T.")
        self.assertEqual((self.account(answer), answer["isNewAccount"]), (account, False))
        self.assertEqual(answer["account"]["attributes"], {"displayName": "Carol T."})
        self.assertEqual(self.providers(account), ["password", "oidc.trusted"])
        self.password_session()

    def test_a_trusted_provider_takes_over_what_was_never_verified(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        mallory = self.sign_in(subject="mallory", email="carol@example.com")
        account = self.account(mallory)
        token = mallory["idToken"]
        answer = self.sign_in(trusted, email="carol@example.com", email_verified=True)
        self.assertEqual(self.account(answer), account)
        self.assertTrue(answer["account"]["emailVerified"])
        self.assertEqual(self.providers(account), ["oidc.trusted"])
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "default"})
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": mallory["refreshToken"]})
        self.assertEqual(self.sign_in(subject="mallory", email="carol@example.com")["state"], "providerRequired")
        bob, _ = self.password_account("bob@example.com", verified=False)
        self.assertEqual(self.account(self.sign_in(trusted, "bob", email="bob@example.com", email_verified=True)), bob)
        self.refused("passwordNotSet", self.sidecar, "signIn.withPassword", {"username": "bob@example.com", "password": PASSWORD})

    def test_another_subject_of_a_trusted_provider_gives_way(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account = self.account(self.sign_in(trusted, "old", email="carol@example.com", email_verified=True))
        self.assertEqual(self.account(self.sign_in(trusted, "new", email="carol@example.com", email_verified=True)), account)
        self.assertEqual([each["subject"] for each in self.sidecar.call("account.get", {"accountId": account})["providers"]], ["new"])

    def test_a_provider_that_is_not_trusted_changes_nothing_of_anybody_elses(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account = self.account(self.sign_in(trusted, email="carol@example.com", email_verified=True))
        before = self.sidecar.call("account.get", {"accountId": account})
        answer = self.sign_in(email="carol@example.com", email_verified=True, name="Mallory")
        self.assertEqual((answer["state"], answer["providers"], answer["email"]), ("providerRequired", ["oidc.trusted"], "carol@example.com"))
        self.assertFalse({"idToken", "accessToken", "refreshToken", "account"} & set(answer))
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account}), before)
        self.assertEqual(len(self.sidecar.call("account.list", {})["accounts"]), 1)
        # The way on: sign in with what leads there, then link what was shown.
        token = self.sign_in(trusted, email="carol@example.com", email_verified=True)["idToken"]
        self.assertEqual(self.account(self.link(token, {"pendingToken": answer["pendingToken"]})), account)
        self.assertEqual(self.account(self.sign_in(email="carol@example.com")), account)

    def test_addresses_with_several_accounts(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "oneAccountPerAddress": False})
        account, _ = self.password_account()
        answer = self.sign_in(email="carol@example.com")
        self.assertNotEqual(self.account(answer), account)
        self.assertNotIn("email", answer["account"])
        self.assertEqual(answer["account"]["providers"][0]["email"], "carol@example.com")

    def test_without_an_address(self):
        answer = self.sign_in()
        self.assertFalse({"email", "username"} & set(answer["account"]))
        self.assertNotIn("email", claims_of(answer["idToken"]))

    def test_the_disabled_and_the_deleted(self):
        account = self.account(self.sign_in(email="carol@example.com"))
        self.sidecar.call("account.update", {"accountId": account, "disabled": True})
        self.refused("accountDisabled", self.sidecar, "signIn.withCredential", {"credential": self.credential(email="carol@example.com")})
        self.sidecar.call("account.delete", {"accountId": account})
        self.assertTrue(self.sign_in(email="carol@example.com")["isNewAccount"])

    def test_where_nobody_may_sign_up(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "signUpAllowed": False})
        self.refused("signUpNotAllowed", self.sidecar, "signIn.withCredential", {"credential": self.credential()})

    def test_who_signs_in_elsewhere_is_told_so(self):
        self.sign_in(email="carol@example.com")
        self.assertEqual(self.sidecar.call("signIn.start", {"username": "carol@example.com"}), {"state": "providerRequired", "next": "passwordReset.start", "providers": ["oidc.work"]})
        self.sidecar.call("tenant.update", {"tenantId": "default", "enumerationProtection": True})
        self.assertEqual(self.sidecar.call("signIn.start", {"username": "carol@example.com"})["state"], "codeRequired")
        self.assertEqual([message["purpose"] for message in self.sidecar.call("test.outbox", {})["messages"]], ["noAccountNotice"])

    def test_a_password_is_a_credential(self):
        account, _ = self.password_account()
        answer = self.sidecar.call("signIn.withCredential", {"credential": {"email": "carol@example.com", "password": PASSWORD}})
        self.assertEqual((self.account(answer), claims_of(answer["idToken"])["mintmark"]["sign_in_provider"]), (account, "password"))
        self.refused("invalidPassword", self.sidecar, "signIn.withCredential", {"credential": {"email": "carol@example.com", "password": "wrong"}})

    def test_guesses_at_a_password_count_by_their_client_whatever_the_credential_is_for(self):
        here = {"client": {"address": "192.0.2.7"}}
        _, token = self.password_account()
        self.password_account("dora@example.com")
        wrong = {"credential": {"email": "carol@example.com", "password": "wrong"}, **here}
        self.refused("invalidPassword", self.sidecar, "signIn.withCredential", wrong)
        self.refused("invalidPassword", self.sidecar, "account.reauthenticate", {"idToken": token, **wrong})
        anonymous = self.anonymous()["idToken"]
        self.refused("emailAlreadyInUse", self.sidecar, "account.link", {
            "idToken": anonymous, "credential": {"email": "dora@example.com", "password": PASSWORD}, **here})
        for number in range(97):
            self.refused("userNotFound", self.sidecar, "signIn.withCredential", {
                "credential": {"email": f"nobody{number}@example.com", "password": "x"}, **here})
            self.sidecar.call("test.clock", {"advanceSeconds": 1})
        right = {"email": "carol@example.com", "password": PASSWORD}
        for method, params in {
                "signIn.withCredential": {"credential": right}, "account.reauthenticate": {"idToken": token, "credential": right},
                "account.link": {"idToken": anonymous, "credential": self.credential()}, "signIn.anonymously": {}}.items():
            self.assertEqual(self.refused("tooManyFromClient", self.sidecar, method, {**params, **here}).data["counted"], "failures")
        self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": right})["state"], "completed")

    def test_every_way_in_grants_scopes(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "scopes": ["orders"], "anonymousAllowed": True})
        self.password_account()
        right, asked = {"email": "carol@example.com", "password": PASSWORD}, {"scope": "openid orders"}
        guest = self.sidecar.call("signIn.anonymously", asked)
        carol = self.sidecar.call("signIn.withCredential", {"credential": right, **asked})
        linked = self.link(carol["idToken"], self.credential())
        again = [self.sidecar.call("account.reauthenticate", {"idToken": linked["idToken"], "credential": credential}) for credential in (right, self.credential())]
        federated = self.sidecar.call("signIn.withCredential", {"credential": self.credential(), **asked})
        for answer in (guest, carol, linked, *again, federated):
            self.assertEqual(claims_of(answer["accessToken"])["scope"], "openid orders")
        for method, params in {"signIn.anonymously": {}, "signIn.withCredential": {"credential": self.credential()}}.items():
            self.assertEqual(claims_of(self.sidecar.call(method, params)["accessToken"])["scope"], "openid")
            self.refused("scopeNotOffered", self.sidecar, method, {**params, "scope": "all"})

    def test_a_reset_takes_away_what_somebody_else_linked(self):
        account, token = self.password_account()
        self.link(token, self.credential())
        flow = self.sidecar.call("passwordReset.start", {"username": "carol@example.com"})["continuationToken"]
        code = self.sidecar.call("test.outbox", {})["messages"][-1]["code"]
        flow = self.sidecar.call("passwordReset.submitCode", {"continuationToken": flow, "code": code})["continuationToken"]
        self.sidecar.call("passwordReset.submitPassword", {"continuationToken": flow, "password": "another Horse 7"})
        self.assertEqual(self.providers(account), ["password"])

    def test_apple_tells_a_name_once(self):
        apple = Provider("https://appleid.apple.com")
        apple.name = "apple.com"
        self.sidecar.call("idp.create", {"providerId": "apple.com", "clientId": "shop", "keys": [apple.jwk]})
        raw = secrets.token_urlsafe()
        credential = {**self.credential(apple, nonce=hashed(raw), email="c@privaterelay.example"), "rawNonce": raw, "user": {"name": {"firstName": "Carol", "lastName": "Smith"}}}
        account = self.sidecar.call("signIn.withCredential", {"credential": credential})["account"]
        self.assertEqual((account["attributes"]["displayName"], account["emailVerified"]), ("Carol Smith", True))


class RealProvider(Federation):
    """oidc-provider-mock, a provider that others wrote."""

    def setUp(self):
        super().setUp()
        self.real = OIDCProviderMock(self, {"sub": "alice", "email": "alice@example.com", "email_verified": True}, {"sub": "bob"})
        self.sidecar.call("idp.create", {"providerId": "oidc.real", "clientId": "shop", "issuer": self.real.issuer, "trustEmail": True})

    def shown(self, subject="alice", client="shop"):
        """A credential as an app has it after the code flow with a nonce."""
        raw = secrets.token_urlsafe()
        tokens = self.real.sign_in(client, subject, hashed(raw))
        return {"providerId": "oidc.real", "idToken": tokens["id_token"], "accessToken": tokens["access_token"], "rawNonce": raw}

    def test_signs_in_links_and_shows_who_it_is_once_more(self):
        ok = self.sidecar.call("idp.test", {"providerId": "oidc.real"})
        self.assertEqual([each["check"] for each in ok["checks"] if each["ok"]][:3], ["settings", "discovery", "keys"], ok)
        alice = self.sidecar.call("signIn.withCredential", {"credential": self.shown()})
        self.assertEqual((alice["isNewAccount"], alice["account"]["providers"][0]["subject"]), (True, "alice"))
        self.assertEqual(self.account(self.sidecar.call("signIn.withCredential", {"credential": self.shown()})), self.account(alice))
        again = self.sidecar.call("account.reauthenticate", {"idToken": alice["idToken"], "credential": self.shown()})
        self.assertEqual(self.account(again), self.account(alice))
        self.refused("userMismatch", self.sidecar, "account.reauthenticate", {"idToken": alice["idToken"], "credential": self.shown("bob")})
        account, token = self.password_account("dora@example.com")
        self.assertEqual(self.account(self.link(token, self.shown("bob"))), account)
        self.assertEqual(self.account(self.sidecar.call("signIn.withCredential", {"credential": self.shown("bob")})), account)
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": self.shown(client="other")})
        self.assertEqual(error.data["check"], "audience")

    def test_the_same_token_is_a_login_of_a_pool(self):
        credential = self.shown()
        self.sidecar.call("signIn.withCredential", {"credential": credential})
        pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [{"issuer": self.real.issuer, "clientIds": ["shop"]}]})["poolId"]
        role = self.sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        logins = {self.real.issuer.split("://")[1]: credential["idToken"]}
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["identityId"]
        bought = self.sidecar.call("credentials.get", {"identityId": identity, "logins": logins})
        self.assertEqual((bought["identityId"], bought["roleArn"]), (identity, role))
