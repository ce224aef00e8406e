"""Sign-in with identity providers: the account that each login leads to, and protection against access to other accounts."""

import json
import secrets

from federation import PASSWORD, Federation, hashed
from oidcmock import OIDCProviderMock
from sidecar import RpcError
from test_logins import Provider, claims_of


class SignIn(Federation):
    """The account that a sign-in leads to, over the pipe."""

    def test_first_sign_in_creates_account_and_next_one_finds_it(self):
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

    def test_trusted_provider_links_to_account_with_verified_address(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account, _ = self.password_account()
        answer = self.sign_in(trusted, email="carol@example.com", email_verified=True, name="Carol T.")
        self.assertEqual((self.account(answer), answer["isNewAccount"]), (account, False))
        self.assertEqual(answer["account"]["attributes"], {"displayName": "Carol T."})
        self.assertEqual(self.providers(account), ["password", "oidc.trusted"])
        self.password_session()

    def test_omitted_provider_claims_keep_previous_values(self):
        told = {"email": "carol@example.com", "name": "Carol", "picture": "https://p.example/1.png"}
        account = self.account(self.sign_in(**told))
        login = lambda: self.sidecar.call("account.get", {"accountId": account})["providers"][0]
        first = login()
        self.assertEqual((first["email"], first["displayName"], first["photoUrl"]), tuple(told.values()))
        for claims, changes in [({}, {}), ({"name": "Caroline"}, {"displayName": "Caroline"}), ({"email": "new@example.com"}, {"email": "new@example.com"}), ({}, {})]:
            first.update(changes)
            answer = self.sign_in(**claims)
            self.assertEqual((login(), answer["account"]["providers"][0]), (first, first))
        self.sidecar.call("account.reauthenticate", {"idToken": answer["idToken"], "credential": self.credential()})
        self.assertEqual(login(), first)

    def test_unlinked_provider_returns_available_sign_in_methods(self):
        self.password_account()
        self.sidecar.call("account.create", {"username": "dora@example.com"})
        for address, method, state in (("carol@example.com", "password", "passwordRequired"), ("dora@example.com", "code", "codeRequired")):
            answer = self.sign_in(email=address)
            self.assertEqual((answer["state"], answer["providers"], answer["methods"], answer["next"]), ("providerRequired", [], [method], "signIn.start"))
            self.assertEqual(self.sidecar.call(answer["next"], {"username": address})["state"], state)
        # If the provider is disabled, a code to the address leads to a new password.
        other = self.idp("oidc.other")
        self.sign_in(other, "erin", email="erin@example.com")
        answer = self.sign_in(subject="erin", email="erin@example.com")
        self.assertEqual((answer["providers"], "methods" in answer), (["oidc.other"], False))
        self.sidecar.call("idp.update", {"providerId": "oidc.other", "enabled": False})
        answer = self.sign_in(subject="erin", email="erin@example.com")
        self.assertEqual((answer["providers"], answer["methods"], answer["next"]), ([], ["code"], "passwordReset.start"))

    def test_trusted_provider_claims_unverified_account(self):
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

    def test_errors_do_not_reveal_account_id_before_authentication(self):
        """Covers every public method with an address or a credential, for accounts that are disabled, locked or without a password."""
        trusted = self.idp("oidc.trusted", trustEmail=True)
        federated = self.account(self.sign_in(subject="erin", email="erin@example.com"))
        accounts = {name: self.password_account(name)[0] for name in ("carol@example.com", "dora@example.com")}
        accounts["erin@example.com"] = federated
        self.sidecar.call("account.update", {"accountId": accounts["carol@example.com"], "disabled": True})
        error = self.refused("accountDisabled", self.sidecar, "passwordReset.start", {"username": "carol@example.com"})
        self.assertNotIn("accountId", error.data)
        # An error after authentication contains the account ID.
        for method, params in (
                ("signIn.withCredential", {"credential": self.credential(trusted, "own", email="carol@example.com", email_verified=True)}),
                ("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})):
            self.assertEqual(self.refused("accountDisabled", self.sidecar, method, params).data["accountId"], accounts["carol@example.com"])
        self.sidecar.call("tenant.update", {"tenantId": "default", "lockout": {"threshold": 1, "durationSeconds": 60}})
        self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": "dora@example.com", "password": "wrong"})
        _, stranger = self.password_account("mallory@example.com")
        for address, account in accounts.items():
            guess = {"email": address, "password": "guess"}
            calls = [
                ("signUp.start", {"username": address}), ("signIn.start", {"username": address}), ("passwordReset.start", {"username": address}),
                ("signIn.withPassword", {"username": address, "password": "guess"}), ("signIn.withCredential", {"credential": guess}),
                ("signIn.withCredential", {"credential": self.credential(subject="stranger", email=address)}),
                ("account.changeEmail", {"idToken": stranger, "email": address}), ("account.link", {"idToken": stranger, "credential": guess}),
                ("account.link", {"idToken": stranger, "credential": self.credential(subject="stranger", email=address)}),
                ("account.reauthenticate", {"idToken": stranger, "credential": guess})]
            for method, params in calls:
                with self.subTest(method=method, address=address):
                    try:
                        answer = self.sidecar.call(method, params)
                    except RpcError as error:
                        answer = {"message": str(error), "data": error.data}
                    self.assertNotIn(account, json.dumps(answer))

    def test_other_subject_of_provider_does_not_get_account_by_address(self):
        """If a domain or an address has a new owner, the provider uses another subject for the same address (CVE-2023-3128)."""
        trusted, google = self.idp("oidc.trusted", trustEmail=True), Provider("https://accounts.google.com")
        google.name = "google.com"
        self.sidecar.call("idp.create", {"providerId": "google.com", "clientId": "shop", "keys": [google.jwk]})
        for number, (provider, claims) in enumerate([(trusted, {}), (google, {"hd": "example.com"})]):
            for verified in (True, False):
                with self.subTest(provider.name, verified=verified):
                    claims = {**claims, "email": f"carol{number}{verified}@example.com", "email_verified": True}.copy()
                    session = self.sign_in(provider, f"old{number}{verified}", **claims)
                    account = self.account(session)
                    self.sidecar.call("account.update", {"accountId": account, "emailVerified": verified})
                    before = self.sidecar.call("account.get", {"accountId": account})
                    for _ in range(2):
                        answer = self.sign_in(provider, "new", **claims)
                        self.assertEqual((answer["state"], answer["providers"]), ("providerRequired", [provider.name]))
                        self.assertFalse({"idToken", "accessToken", "refreshToken", "account", "continuationToken"} & set(answer))
                    pending = self.sidecar.call("signIn.withCredential", {"credential": {"pendingToken": answer["pendingToken"]}})
                    self.assertEqual(pending["state"], "providerRequired")
                    self.assertEqual(self.sidecar.call("account.get", {"accountId": account}), before)
                    self.sidecar.call("session.refresh", {"refreshToken": session["refreshToken"]})
                    self.refused("providerAlreadyLinked", self.sidecar, "account.link", {"idToken": session["idToken"], "credential": {"pendingToken": answer["pendingToken"]}})
                    self.assertEqual(self.account(self.sign_in(provider, f"old{number}{verified}", **claims)), account)

    def test_untrusted_provider_does_not_change_other_account(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account = self.account(self.sign_in(trusted, email="carol@example.com", email_verified=True))
        before = self.sidecar.call("account.get", {"accountId": account})
        answer = self.sign_in(email="carol@example.com", email_verified=True, name="Mallory")
        self.assertEqual((answer["state"], answer["providers"], answer["email"]), ("providerRequired", ["oidc.trusted"], "carol@example.com"))
        self.assertFalse({"idToken", "accessToken", "refreshToken", "account"} & set(answer))
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account}), before)
        self.assertEqual(len(self.sidecar.call("account.list", {})["accounts"]), 1)
        # The user continues by signing in with an existing method and linking the pending credential.
        token = self.sign_in(trusted, email="carol@example.com", email_verified=True)["idToken"]
        self.assertEqual(self.account(self.link(token, {"pendingToken": answer["pendingToken"]})), account)
        self.assertEqual(self.account(self.sign_in(email="carol@example.com")), account)

    def test_several_accounts_per_address_get_separate_accounts(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "oneAccountPerAddress": False})
        account, _ = self.password_account()
        answer = self.sign_in(email="carol@example.com")
        self.assertNotEqual(self.account(answer), account)
        self.assertNotIn("email", answer["account"])
        self.assertEqual(answer["account"]["providers"][0]["email"], "carol@example.com")

    def test_sign_in_without_address_creates_account_without_address(self):
        answer = self.sign_in()
        self.assertFalse({"email", "username"} & set(answer["account"]))
        self.assertNotIn("email", claims_of(answer["idToken"]))

    def test_sign_in_to_disabled_account_fails_and_deleted_account_is_created_again(self):
        account = self.account(self.sign_in(email="carol@example.com"))
        self.sidecar.call("account.update", {"accountId": account, "disabled": True})
        self.refused("accountDisabled", self.sidecar, "signIn.withCredential", {"credential": self.credential(email="carol@example.com")})
        self.sidecar.call("account.delete", {"accountId": account})
        self.assertTrue(self.sign_in(email="carol@example.com")["isNewAccount"])

    def test_sign_in_does_not_create_account_if_sign_up_is_not_allowed(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "signUpAllowed": False})
        self.refused("signUpNotAllowed", self.sidecar, "signIn.withCredential", {"credential": self.credential()})

    def test_sign_in_start_for_federated_account_requires_provider(self):
        self.sign_in(email="carol@example.com")
        self.assertEqual(self.sidecar.call("signIn.start", {"username": "carol@example.com"}), {"state": "providerRequired", "next": "passwordReset.start", "providers": ["oidc.work"]})
        self.sidecar.call("tenant.update", {"tenantId": "default", "enumerationProtection": True})
        self.assertEqual(self.sidecar.call("signIn.start", {"username": "carol@example.com"})["state"], "codeRequired")
        self.assertEqual([message["purpose"] for message in self.sidecar.call("test.outbox", {})["messages"]], ["noAccountNotice"])

    def test_password_is_accepted_as_credential(self):
        account, _ = self.password_account()
        answer = self.sidecar.call("signIn.withCredential", {"credential": {"email": "carol@example.com", "password": PASSWORD}})
        self.assertEqual((self.account(answer), claims_of(answer["idToken"])["mintmark"]["sign_in_provider"]), (account, "password"))
        self.refused("invalidPassword", self.sidecar, "signIn.withCredential", {"credential": {"email": "carol@example.com", "password": "wrong"}})

    def test_wrong_passwords_count_per_client_in_every_method(self):
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

    def test_every_sign_in_method_grants_scopes(self):
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

    def test_password_reset_unlinks_providers(self):
        account, token = self.password_account()
        self.link(token, self.credential())
        flow = self.sidecar.call("passwordReset.start", {"username": "carol@example.com"})["continuationToken"]
        code = self.sidecar.call("test.outbox", {})["messages"][-1]["code"]
        flow = self.sidecar.call("passwordReset.submitCode", {"continuationToken": flow, "code": code})["continuationToken"]
        self.sidecar.call("passwordReset.submitPassword", {"continuationToken": flow, "password": "another Horse 7"})
        self.assertEqual(self.providers(account), ["password"])

    def test_apple_name_is_stored_from_first_sign_in(self):
        apple = Provider("https://appleid.apple.com")
        apple.name = "apple.com"
        self.sidecar.call("idp.create", {"providerId": "apple.com", "clientId": "shop", "keys": [apple.jwk]})
        raw = secrets.token_urlsafe()
        credential = {**self.credential(apple, nonce=hashed(raw), email="c@privaterelay.example"), "rawNonce": raw, "user": {"name": {"firstName": "Carol", "lastName": "Smith"}}}
        account = self.sidecar.call("signIn.withCredential", {"credential": credential})["account"]
        self.assertEqual((account["attributes"]["displayName"], account["emailVerified"]), ("Carol Smith", True))


class RealProvider(Federation):
    """Sign-in with oidc-provider-mock, a third-party provider."""

    def setUp(self):
        super().setUp()
        self.real = OIDCProviderMock(self, {"sub": "alice", "email": "alice@example.com", "email_verified": True}, {"sub": "bob"})
        self.sidecar.call("idp.create", {"providerId": "oidc.real", "clientId": "shop", "issuer": self.real.issuer, "trustEmail": True})

    def shown(self, subject="alice", client="shop"):
        """Returns a credential as an application obtains it from the code flow with a nonce."""
        raw = secrets.token_urlsafe()
        tokens = self.real.sign_in(client, subject, hashed(raw))
        return {"providerId": "oidc.real", "idToken": tokens["id_token"], "accessToken": tokens["access_token"], "rawNonce": raw}

    def test_real_provider_signs_in_links_and_reauthenticates(self):
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

    def test_id_token_of_real_provider_is_accepted_as_pool_login(self):
        credential = self.shown()
        self.sidecar.call("signIn.withCredential", {"credential": credential})
        pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [{"issuer": self.real.issuer, "clientIds": ["shop"]}]})["poolId"]
        role = self.sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        logins = {self.real.issuer.split("://")[1]: credential["idToken"]}
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["identityId"]
        bought = self.sidecar.call("credentials.get", {"identityId": identity, "logins": logins})
        self.assertEqual((bought["identityId"], bought["roleArn"]), (identity, role))
