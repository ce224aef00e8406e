"""Secrets of confidential applications: hashed, shown once, replaced without an interruption, and required where the application acts."""

import base64
import json
import threading
import urllib.parse

from entrahttp import EntraHTTP
from nativeflows import ALICE, PASSWORD, NativeFlows
from sidecar import RpcError


class Secrets(NativeFlows):
    def setUp(self):
        super().setUp()
        self.call("application.put", clientId="server", type="confidential")
        self.call("application.put", clientId="mobile")

    def secret(self, client="server", **more):
        return self.call("application.addSecret", clientId=client, **more)

    def test_secret_is_shown_once_and_listed_without_itself(self):
        made = self.secret()
        self.assertRegex(made["clientSecret"], r"^mmcs_[\w-]{43}$")
        for answer in (self.call("application.get", clientId="server"), self.call("application.list")["applications"][1],
                       self.call("application.put", clientId="server", type="confidential", name="New")):
            self.assertEqual(answer["secrets"], [
                {"secretId": made["secretId"], "hint": made["clientSecret"][-4:], "createdAt": made["createdAt"]}])
        everything = json.dumps([self.call("system.export"), self.call("audit.list")])
        self.assertNotIn(made["clientSecret"], everything)
        self.assertNotIn("secrets", self.call("application.get", clientId="mobile"))
        records = [each for each in self.call("audit.list")["records"] if each["method"] == "application.addSecret"]
        self.assertEqual(records[0]["details"], {"clientId": "server", "secretId": made["secretId"], "tenantId": "default"})

    def test_two_secrets_are_valid_while_one_replaces_the_other(self):
        self.account(password=PASSWORD)
        first, second = self.secret(), self.secret()
        self.assertEqual(self.fails("tooManyClientSecrets", "application.addSecret", clientId="server").data["maximum"], 2)
        for secret in (first, second):
            self.call("signIn.withPassword", username=ALICE, password=PASSWORD, clientId="server", clientSecret=secret["clientSecret"])
        left = self.call("application.deleteSecret", clientId="server", secretId=first["secretId"])
        self.assertEqual([each["secretId"] for each in left["secrets"]], [second["secretId"]])
        error = self.fails("clientSecretInvalid", "signIn.withPassword", username=ALICE, password=PASSWORD, clientId="server",
                           clientSecret=first["clientSecret"])
        self.assertEqual(error.data["clientId"], "server")
        self.fails("clientSecretNotFound", "application.deleteSecret", clientId="server", secretId=first["secretId"])
        # Without a secret, the application would no longer have to authenticate.
        self.fails("lastClientSecret", "application.deleteSecret", clientId="server", secretId=second["secretId"])
        self.call("signIn.withPassword", username=ALICE, password=PASSWORD, clientId="server", clientSecret=second["clientSecret"])

    def test_public_applications_have_no_secrets(self):
        self.account(password=PASSWORD)
        self.fails("clientNotConfidential", "application.addSecret", clientId="mobile")
        self.fails("clientNotConfidential", "application.addSecret", clientId="default")
        self.fails("clientUnknown", "application.addSecret", clientId="none")
        secret = self.secret()
        self.fails("clientSecretInvalid", "signIn.withPassword", username=ALICE, password=PASSWORD, clientId="mobile",
                   clientSecret=secret["clientSecret"])
        error = self.fails("invalidApplication", "application.put", clientId="server")
        self.assertEqual(error.data["pointer"], "/type")

    def test_each_start_needs_the_secret_of_its_own_application(self):
        self.account(password=PASSWORD)
        self.call("application.put", clientId="other", type="confidential")
        self.call("tenant.create", tenantId="shop")
        self.call("application.put", tenantId="shop", clientId="server", type="confidential")
        wrong = [self.secret("other")["clientSecret"], self.secret(tenantId="shop")["clientSecret"], "mmcs_", PASSWORD, None]
        secret = self.secret()["clientSecret"]
        wrong += [secret.lower(), secret + "x", secret[:-1]]
        starts = {
            "signUp.start": {"username": "bob@example.com"}, "signIn.start": {"username": ALICE}, "passwordReset.start": {"username": ALICE},
            "signIn.withPassword": {"username": ALICE, "password": PASSWORD},
            "signIn.withCredential": {"credential": {"email": ALICE, "password": PASSWORD}},
        }
        for method, params in starts.items():
            for each in wrong:
                given = {"clientSecret": each} if each else {}
                with self.subTest(method, secret=each):
                    self.fails("clientSecretInvalid", method, clientId="server", **given, **params)
            self.assertIn("state", self.call(method, clientId="server", clientSecret=secret, **params))

    def test_refresh_needs_the_secret(self):
        self.account(password=PASSWORD)
        secret = self.secret()["clientSecret"]
        tokens = self.call("signIn.withPassword", username=ALICE, password=PASSWORD, clientId="server", clientSecret=secret)
        for given in ({}, {"clientId": "server"}, {"clientSecret": "wrong"}):
            self.fails("clientSecretInvalid", "session.refresh", refreshToken=tokens["refreshToken"], **given)
        fresh = self.call("session.refresh", refreshToken=tokens["refreshToken"], clientSecret=secret)
        again = self.call("session.refresh", refreshToken=fresh["refreshToken"], clientId="server", clientSecret=secret)
        self.assertEqual(self.claims(again["idToken"])["aud"], "server")
        # The default application is public.
        own = self.call("signIn.withPassword", username=ALICE, password=PASSWORD)
        self.fails("clientSecretInvalid", "session.refresh", refreshToken=own["refreshToken"], clientSecret=secret)

    def test_secrets_at_the_same_time_are_at_most_two(self):
        others = [self.spawn(store=self.store, testing=True) for _ in range(4)]
        made, refused = [], []

        def add(sidecar):
            try:
                made.append(sidecar.call("application.addSecret", {"clientId": "server"}))
            except RpcError as error:
                refused.append(error.type)

        threads = [threading.Thread(target=add, args=(each,)) for each in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(made), refused), (2, ["tooManyClientSecrets"] * 2))

        def delete(sidecar, secret):
            try:
                sidecar.call("application.deleteSecret", {"clientId": "server", "secretId": secret["secretId"]})
            except RpcError as error:
                refused.append(error.type)

        refused.clear()
        threads = [threading.Thread(target=delete, args=each) for each in zip(others, made)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(refused, ["lastClientSecret"])

    def test_document_keeps_secrets_and_cannot_make_the_application_public(self):
        secret = self.secret()["clientSecret"]
        self.call("system.apply", applications=[{"clientId": "server", "type": "confidential", "name": "Server"}])
        self.call("signUp.start", username="bob@example.com", clientId="server", clientSecret=secret)
        error = self.sidecar.refusal("system.apply", {"applications": [{"clientId": "server"}]})
        self.assertIn("/applications/0/type", str(error.data))

    def test_secrets_survive_a_restart_and_end_with_their_application(self):
        secret = self.secret()["clientSecret"]
        self.restart()
        self.call("signUp.start", username="bob@example.com", clientId="server", clientSecret=secret)
        self.call("application.delete", clientId="server")
        self.call("application.put", clientId="server", type="confidential")
        self.assertNotIn("secrets", self.call("application.get", clientId="server"))
        self.fails("clientSecretInvalid", "signUp.start", username=ALICE, clientId="server", clientSecret=secret)


class SecretsOverHTTP(EntraHTTP):
    def setUp(self):
        super().setUp()
        self.call("application.put", tenantId="shop", clientId="server", type="confidential")
        self.secret = self.call("application.addSecret", tenantId="shop", clientId="server")["clientSecret"]
        self.account(tenantId="shop", password=PASSWORD)

    def ask(self, path, basic=None, **form):
        given = {"headers": {"authorization": "Basic " + base64.b64encode(basic.encode()).decode()}} if basic else {}
        response, body = self.raw(f"oauth2/v2.0/{path}", urllib.parse.urlencode(form), **given)
        return response, json.loads(body)

    def fails_with(self, error, path, status=400, **form):
        response, answer = self.ask(path, **form)
        self.assertEqual((response.status, answer["error"]), (status, error), answer)
        self.assertEqual("www-authenticate" in response.headers, status == 401)

    def begin(self, **client):
        return self.ask("authorize-challenge", login_hint=ALICE, scope="openid offline_access", **client)

    def test_confidential_application_authenticates_by_header_or_form(self):
        for client in ({"basic": f"server:{self.secret}"}, {"client_id": "server", "client_secret": self.secret}):
            _, step = self.begin(**client)
            self.assertEqual(step["next"], "password", step)
            form = {"auth_session": step["auth_session"], "password": PASSWORD}
            # The auth_session alone does not prove the application.
            self.fails_with("invalid_client", "authorize-challenge", **form)
            code = self.ask("authorize-challenge", **form, **client)[1]["authorization_code"]
            grant = {"grant_type": "authorization_code", "code": code}
            self.fails_with("invalid_client", "token", client_id="server", **grant)
            tokens = self.ask("token", **grant, **client)[1]
            refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
            self.fails_with("invalid_client", "token", client_id="server", **refresh)
            self.assertIn("access_token", self.ask("token", **refresh, **client)[1])

    def test_wrong_secrets_are_refused(self):
        for path in ("authorize-challenge", "token"):
            form = {"grant_type": "refresh_token", "refresh_token": "x", "login_hint": ALICE}
            for wrong in ("wrong", self.secret + "x", "%00"):
                self.fails_with("invalid_client", path, status=401, basic=f"server:{wrong}", **form)
                self.fails_with("invalid_client", path, client_id="server", client_secret=wrong, **form)
            self.fails_with("invalid_client", path, status=401, basic="server", **form)
            self.fails_with("invalid_client", path, status=401, basic=f"mobile:{self.secret}", **form)
            self.fails_with("invalid_request", path, basic=f"server:{self.secret}", client_secret=self.secret, **form)
            self.fails_with("invalid_request", path, basic=f"server:{self.secret}", client_id="mobile", **form)
        # The native API is for public applications, with and without the secret.
        for path in ("initiate", "challenge"):
            self.fails_with("invalid_client", path, client_id="server", client_secret=self.secret, username=ALICE, challenge_type="redirect")

    def test_secret_of_another_application_gives_no_access(self):
        self.call("application.put", tenantId="shop", clientId="other", type="confidential")
        other = {"client_id": "other", "client_secret": self.call("application.addSecret", tenantId="shop", clientId="other")["clientSecret"]}
        own = {"client_id": "server", "client_secret": self.secret}
        _, step = self.begin(**own)
        form = {"auth_session": step["auth_session"], "password": PASSWORD}
        self.fails_with("invalid_session", "authorize-challenge", **form, **other)
        self.fails_with("invalid_client", "authorize-challenge", **form, **{**own, "client_secret": other["client_secret"]})
        code = self.ask("authorize-challenge", **form, **own)[1]["authorization_code"]
        grant = {"grant_type": "authorization_code", "code": code}
        self.fails_with("invalid_grant", "token", **grant, **other)
        self.fails_with("invalid_grant", "token", **grant, client_id="mobile")
        tokens = self.ask("token", **grant, **own)[1]
        refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        self.fails_with("invalid_grant", "token", **refresh, **other)
        self.fails_with("invalid_grant", "token", **refresh, client_id="mobile")
        # The attempts of others did not use up the token.
        self.assertIn("access_token", self.ask("token", **refresh, **own)[1])

    def test_metadata_names_the_methods_of_authentication(self):
        response, body = self.raw(".well-known/oauth-authorization-server", None, method="GET")
        self.assertEqual(response.status, 200)
        self.assertEqual(json.loads(body)["token_endpoint_auth_methods_supported"], ["none", "client_secret_basic", "client_secret_post"])
