"""Applications of a tenant: their tokens, the binding of flows and sessions, and what their deletion ends."""

import threading

from nativeflows import ALICE, PASSWORD, NativeFlows
from sidecar import RpcError


class Applications(NativeFlows):
    def setUp(self):
        super().setUp()
        self.call("application.put", clientId="mobile")

    def test_tokens_name_the_application(self):
        answer = self.signed_up(clientId="mobile")
        claims, access = self.claims(answer["idToken"]), self.claims(answer["accessToken"])
        self.assertEqual(claims["aud"], "mobile")
        self.assertEqual((access["aud"], access["client_id"], access["azp"]), ("default", "mobile", "mobile"))
        self.assertEqual(self.call("token.verify", token=answer["idToken"], audience="mobile")["claims"]["sub"], claims["sub"])
        session = self.call("session.list", accountId=claims["sub"])["sessions"][0]
        self.assertEqual(session["clientId"], "mobile")
        fresh = self.call("session.refresh", refreshToken=answer["refreshToken"], clientId="mobile")
        self.assertEqual((self.claims(fresh["idToken"])["aud"], self.claims(fresh["accessToken"])["azp"]), ("mobile", "mobile"))

    def test_default_application_is_the_tenant(self):
        answer = self.signed_up(clientId="default")
        claims, access = self.claims(answer["idToken"]), self.claims(answer["accessToken"])
        self.assertEqual((claims["aud"], access["client_id"], "azp" in access), ("default", "default", False))
        self.assertNotIn("clientId", self.call("session.list", accountId=claims["sub"])["sessions"][0])
        self.assertEqual(self.call("application.get", clientId="default")["createdAt"], 0)
        self.fails("invalidApplication", "application.put", clientId="default", type="confidential")
        self.fails("invalidApplication", "application.put", clientId="default", nativeAuthentication=False)
        self.call("application.put", clientId="default", origins=["https://shop.example.com"])
        self.assertEqual(self.call("application.delete", clientId="default")["endedSessions"], 0)
        self.call("session.refresh", refreshToken=answer["refreshToken"], clientId="default")

    def test_every_start_refuses_unknown_and_unpermitted_applications(self):
        self.account(password=PASSWORD)
        self.call("application.put", clientId="server", type="confidential")
        self.call("application.put", clientId="web", nativeAuthentication=False)
        self.call("tenant.create", tenantId="other")
        self.call("application.put", tenantId="other", clientId="foreign")
        starts = {
            "signUp.start": {"username": "bob@example.com"}, "signIn.start": {"username": ALICE}, "passwordReset.start": {"username": ALICE},
            "signIn.withPassword": {"username": ALICE, "password": PASSWORD},
        }
        for method, params in starts.items():
            for client in ("foreign", "none", "other"):
                error = self.fails("clientUnknown", method, clientId=client, **params)
                self.assertEqual(error.data, {"type": "clientUnknown", "tenantId": "default", "clientId": client})
            self.assertEqual(self.fails("clientNotPermitted", method, clientId="server", **params).data["cause"], "confidential")
            error = self.fails("clientNotPermitted", method, clientId="web", **params)
            self.assertEqual(error.data["cause"], "nativeAuthenticationDisabled")
        self.assertEqual(self.sent() + self.sent("bob@example.com"), [])

    def test_flow_belongs_to_its_application(self):
        self.call("application.put", clientId="web")
        step = self.call("signUp.start", username=ALICE, clientId="mobile")
        token, code = step["continuationToken"], self.code()
        for client in ("web", "default", "none"):
            self.fails("continuationTokenInvalid", "signUp.submitCode", continuationToken=token, code=code, clientId=client)
            self.fails("continuationTokenInvalid", "signUp.resendCode", continuationToken=token, clientId=client)
        step = self.call("signUp.submitCode", continuationToken=token, code=code, clientId="mobile")
        self.fails("continuationTokenInvalid", "signIn.withContinuation", continuationToken=step["continuationToken"], clientId="web")
        answer = self.call("signIn.withContinuation", continuationToken=step["continuationToken"])
        self.assertEqual(self.claims(answer["idToken"])["aud"], "mobile")
        for client in ("web", "default", "none"):
            self.fails("refreshTokenInvalid", "session.refresh", refreshToken=answer["refreshToken"], clientId=client)
        self.call("session.refresh", refreshToken=answer["refreshToken"])
        own = self.call("signIn.start", username=ALICE)
        self.fails("continuationTokenInvalid", "signIn.submitCode", continuationToken=own["continuationToken"], code=self.code(), clientId="mobile")

    def test_repeated_start_of_another_application_is_another_flow(self):
        first = self.call("signUp.start", username=ALICE, clientId="mobile")
        second = self.call("signUp.start", username=ALICE)
        self.assertNotEqual(first["continuationToken"], second["continuationToken"])
        self.assertEqual(self.call("signUp.start", username=ALICE, clientId="mobile")["continuationToken"], first["continuationToken"])

    def test_audiences_and_scopes_are_those_of_the_application(self):
        self.call("tenant.update", tenantId="default", audiences=["orders", "stock"], scopes=["read", "write"])
        self.call("application.put", clientId="mobile", audiences=["orders"], scopes=["read"])
        self.account(password=PASSWORD)
        sign_in = {"username": ALICE, "password": PASSWORD, "clientId": "mobile"}
        self.fails("audienceNotOffered", "signIn.withPassword", audience="stock", **sign_in)
        self.fails("scopeNotOffered", "signIn.withPassword", scope="openid write", **sign_in)
        answer = self.call("signIn.withPassword", audience="orders", scope="openid read", **sign_in)
        self.assertEqual((self.claims(answer["accessToken"])["aud"], answer["scope"]), ("orders", "openid read"))
        self.fails("audienceNotOffered", "session.refresh", refreshToken=answer["refreshToken"], audience="stock")
        self.call("signIn.withPassword", username=ALICE, password=PASSWORD, audience="stock", scope="write")
        for settings in ({"audiences": ["none"]}, {"scopes": ["none"]}, {"scopes": ["read"], "consent": ["write"]},
                         {"origins": ["shop.example.com"]}, {"origins": ["https://shop.example.com/"]}, {"redirectUris": ["/callback"]},
                         {"redirectUris": ["https://shop.example.com/#a"]}):
            self.fails("invalidApplication", "application.put", clientId="web", **settings)

    def test_second_factor_keeps_the_application_across_restarts(self):
        self.restarting = True
        account = self.account(password=PASSWORD)
        self.call("tenant.update", tenantId="default", mfa="required")
        step = self.call("signIn.withPassword", username=ALICE, password=PASSWORD, clientId="mobile")
        self.assertEqual(step["state"], "secondFactorEnrollmentRequired")
        number = "+4915112345678"
        step = self.call("mfa.enroll", continuationToken=step["continuationToken"], kind="sms", phoneNumber=number, clientId="mobile")
        self.fails("continuationTokenInvalid", "mfa.confirm", continuationToken=step["continuationToken"], code=self.code(number), clientId="default")
        answer = self.call("mfa.confirm", continuationToken=step["continuationToken"], code=self.code(number), clientId="mobile")
        self.assertEqual(self.claims(answer["idToken"])["aud"], "mobile")
        step = self.call("signIn.start", username=ALICE, clientId="mobile")
        step = self.call("signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)
        factor = step["hints"][0]["factorId"]
        step = self.call("mfa.challenge", continuationToken=step["continuationToken"], factorId=factor, clientId="mobile")
        answer = self.call("mfa.resolve", continuationToken=step["continuationToken"], code=self.code(number))
        self.assertEqual(self.claims(answer["idToken"])["aud"], "mobile")
        changed = self.call("account.changePassword", idToken=answer["idToken"], currentPassword=PASSWORD, newPassword="another Horse 7 staple")
        self.assertEqual(self.claims(changed["idToken"])["aud"], "mobile")
        self.assertEqual({each["clientId"] for each in self.call("session.list", accountId=account)["sessions"]}, {"mobile"})

    def test_deletion_ends_sessions_and_flows_of_the_application_only(self):
        answer = self.signed_up(clientId="mobile")
        account = answer["account"]["accountId"]
        other = self.call("signIn.start", username=ALICE)
        other = self.call("signIn.submitCode", continuationToken=other["continuationToken"], code=self.code())
        pending = self.call("signUp.start", username="bob@example.com", clientId="mobile")
        self.assertEqual(self.call("application.delete", clientId="mobile"), {"tenantId": "default", "clientId": "mobile", "endedSessions": 1})
        for again in (False, True):
            if again:
                self.call("application.put", clientId="mobile")
            self.fails("refreshTokenInvalid", "session.refresh", refreshToken=answer["refreshToken"])
            self.fails("tokenRevoked", "token.verify", token=answer["idToken"], tenantId="default")
            error = self.fails("flowEnded", "signUp.submitCode", continuationToken=pending["continuationToken"], code=self.code("bob@example.com"))
            self.assertEqual(error.data["cause"], "applicationDeleted")
        self.call("session.refresh", refreshToken=other["refreshToken"])
        self.assertEqual(len(self.call("session.list", accountId=account)["sessions"]), 1)

    def test_sign_ins_parallel_to_the_deletion_leave_no_session(self):
        self.account(password=PASSWORD)
        others = [self.spawn(store=self.store, testing=True) for _ in range(3)]
        sessions = []

        def sign_in(sidecar):
            for _ in range(8):
                try:
                    sessions.append(sidecar.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD, "clientId": "mobile"}))
                except RpcError as error:
                    self.assertEqual(error.type, "clientUnknown")

        threads = [threading.Thread(target=sign_in, args=(each,)) for each in others]
        for thread in threads:
            thread.start()
        self.call("application.delete", clientId="mobile")
        for thread in threads:
            thread.join()
        for session in sessions:
            self.fails("refreshTokenInvalid", "session.refresh", refreshToken=session["refreshToken"])
        self.fails("clientUnknown", "application.delete", clientId="mobile")

    def test_list_put_and_limit(self):
        created = self.call("application.put", clientId="a", name="A", redirectUris=["com.example.app://done"], origins=["http://127.0.0.1:3000"])
        changed = self.call("application.put", clientId="a", name="B")
        self.assertEqual((changed["name"], changed["redirectUris"], changed["createdAt"]), ("B", [], created["createdAt"]))
        names, cursor = [], {}
        while True:
            page = self.call("application.list", limit=1, **cursor)
            names += [each["clientId"] for each in page["applications"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        self.assertEqual(names, ["a", "mobile"])
        for number in range(98):
            self.call("application.put", clientId=f"app-{number}")
        self.fails("tooManyApplications", "application.put", clientId="more")
        self.call("application.put", clientId="a")
        self.fails("clientUnknown", "application.get", clientId="none")
        self.fails("tenantNotFound", "application.put", tenantId="none", clientId="a")

    def test_deleting_the_tenant_deletes_its_applications(self):
        self.call("tenant.create", tenantId="shop")
        self.call("application.put", tenantId="shop", clientId="mobile")
        self.call("tenant.delete", tenantId="shop")
        self.call("tenant.create", tenantId="shop")
        self.assertEqual(self.call("application.list", tenantId="shop"), {"applications": []})

    def test_apply_and_export_contain_applications(self):
        document = {
            "tenants": [{"tenantId": "shop", "scopes": ["read"]}],
            "applications": [{"tenantId": "shop", "clientId": "web", "scopes": ["read"], "origins": ["https://shop.example.com"]},
                             {"clientId": "mobile", "name": "Phone"}],
        }
        changes = self.call("system.apply", **document)["changes"]
        self.assertEqual([(each["kind"], each["name"], each["change"], each["changed"]) for each in changes],
                         [("tenant", "shop", "created", []), ("application", "web", "created", []), ("application", "mobile", "updated", ["name"])])
        self.assertEqual({each["change"] for each in self.call("system.apply", **document)["changes"]}, {"unchanged"})
        exported = self.call("system.export")
        self.assertEqual([each["clientId"] for each in exported["applications"]], ["mobile", "web"])
        self.assertEqual({each["change"] for each in self.call("system.apply", **exported)["changes"]}, {"unchanged"})
        other = self.spawn(testing=True)
        other.call("system.apply", exported)
        self.assertEqual(other.call("system.export", {}), exported)
        wrong = {"applications": [{"clientId": "a", "scopes": ["none"]}, {"clientId": "a"}, {"tenantId": "none", "clientId": "b"}]}
        self.assertEqual(
            self.violations(self.sidecar, "system.apply", wrong),
            {("/applications/0/scopes/0", "invalidApplication"), ("/applications/1/clientId", "duplicate"), ("/applications/2/tenantId", "tenantNotFound")})
