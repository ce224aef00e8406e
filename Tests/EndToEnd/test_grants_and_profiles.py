"""Scopes of audiences and applications at sign-in and refresh, claims of ID tokens, and the profile of the signed-in user."""

import threading

from nativeflows import ALICE, PASSWORD, NativeFlows


class Grants(NativeFlows):
    def setUp(self):
        super().setUp()
        self.call(
            "tenant.update", tenantId="default", audiences=["orders", "stock", "plain"], scopes=["read", "write"],
            audienceScopes=[{"audience": "orders", "scopes": ["orders.read", "orders.write"]}, {"audience": "stock", "scopes": ["stock.read"]}])
        self.account(password=PASSWORD)

    def sign_in(self, **more):
        return self.call("signIn.withPassword", username=ALICE, password=PASSWORD, **more)

    def refresh(self, answer, **more):
        fresh = self.call("session.refresh", refreshToken=answer["refreshToken"], **more)
        claims = self.claims(fresh["accessToken"])
        self.assertEqual(claims["scope"], fresh["scope"])
        return fresh, (claims["aud"], claims["scope"])

    def test_tokens_have_only_scopes_of_their_audience(self):
        for audience, scope in (("orders", "read"), ("orders", "stock.read"), ("plain", "orders.read"), (None, "orders.read")):
            more = {"audience": audience} if audience else {}
            self.fails("scopeNotOffered", "signIn.withPassword", username=ALICE, password=PASSWORD, scope=scope, **more)
        for audience, scope in (("orders", "orders.read profile"), ("plain", "read"), ("default", "write")):
            answer = self.sign_in(audience=audience, scope=scope)
            self.assertEqual((self.claims(answer["accessToken"])["aud"], answer["scope"]), (audience, scope))

    def test_refresh_keeps_audience_and_scope(self):
        answer = self.sign_in(audience="orders", scope="openid orders.read")
        fresh, grant = self.refresh(answer)
        self.assertEqual(grant, ("orders", "openid orders.read"))
        fresh, grant = self.refresh(fresh, audience="stock", scope="stock.read")
        self.assertEqual(grant, ("stock", "stock.read"))
        self.fails("scopeNotOffered", "session.refresh", refreshToken=fresh["refreshToken"], audience="stock", scope="orders.read")
        self.restart()
        fresh, grant = self.refresh(fresh)
        self.assertEqual(grant, ("orders", "openid orders.read"))
        self.assertEqual(self.refresh(fresh, audience="stock")[1], ("stock", "openid"))

    def test_consent_of_the_application_widens_a_refresh(self):
        self.call("application.put", clientId="mobile", audiences=["orders", "stock"], scopes=["orders.read", "orders.write", "stock.read"],
                  consent=["orders.write"])
        answer = self.sign_in(audience="orders", scope="openid", clientId="mobile")
        fresh, grant = self.refresh(answer, scope="openid orders.write profile")
        self.assertEqual(grant, ("orders", "openid orders.write profile"))
        refused = self.fails("scopeNotOffered", "session.refresh", refreshToken=fresh["refreshToken"], scope="orders.read orders.write")
        self.assertEqual(refused.data["scopes"], ["orders.read"])
        self.fails("scopeNotOffered", "session.refresh", refreshToken=fresh["refreshToken"], audience="stock", scope="stock.read")
        self.fails("audienceNotOffered", "session.refresh", refreshToken=fresh["refreshToken"], audience="plain")
        self.assertEqual(self.refresh(fresh)[1], ("orders", "openid"))
        self.call("application.put", clientId="mobile")
        fresh = self.sign_in(audience="orders", scope="openid", clientId="mobile")
        self.assertEqual(self.refresh(fresh, audience="stock", scope="stock.read")[1], ("stock", "stock.read"))
        self.fails("scopeNotGranted", "session.refresh", refreshToken=self.sign_in(scope="openid")["refreshToken"], scope="read")

    def test_refresh_fails_since_the_tenant_requires_a_second_factor(self):
        answer = self.sign_in()
        self.call("tenant.update", tenantId="default", mfa="required")
        self.fails("secondFactorRequired", "session.refresh", refreshToken=answer["refreshToken"])
        self.call("tenant.update", tenantId="default", mfa="optional")
        self.refresh(answer)

    def test_audience_scopes_are_checked(self):
        for scopes in ([{"audience": "none", "scopes": []}], [{"audience": "orders", "scopes": []}, {"audience": "orders", "scopes": []}]):
            error = self.fails("invalidTenantSettings", "tenant.update", tenantId="default", audienceScopes=scopes)
            self.assertTrue(error.data["pointer"].startswith("/audienceScopes/"))
        self.assertEqual({each["change"] for each in self.call("system.apply", **self.call("system.export"))["changes"]}, {"unchanged"})


class Profiles(NativeFlows):
    def signed_in(self, scope):
        return self.claims(self.call("signIn.withPassword", username=ALICE, password=PASSWORD, scope=scope)["idToken"])

    def test_id_tokens_have_the_claims_of_entra_if_the_tenant_wants_them(self):
        account = self.account("Alice@Example.com", password=PASSWORD, attributes={"displayName": "Alice", "city": "Berlin"})
        before = self.signed_in("openid")
        self.assertEqual((before["name"], before["email"], "oid" in before), ("Alice", "Alice@Example.com", False))
        self.call("tenant.update", tenantId="default", idTokenProfile=True, attributes=[
            {"name": "displayName", "type": "string"}, {"name": "city", "type": "string", "inIdToken": True}])
        self.assertTrue(self.call("tenant.get", tenantId="default")["idTokenProfile"])
        claims = self.signed_in("openid profile offline_access")
        self.assertEqual(
            {name: claims[name] for name in ("oid", "tid", "ver", "preferred_username", "name", "sub", "nbf", "city")},
            {"oid": account, "tid": "default", "ver": "2.0", "preferred_username": "Alice@Example.com", "name": "Alice", "sub": account,
             "nbf": claims["iat"], "city": "Berlin"})
        bare = self.signed_in("openid")
        self.assertEqual({name for name in ("name", "email", "preferred_username") if name in bare}, set())
        self.assertEqual((bare["oid"], bare["tid"], bare["city"], bare["mintmark"]["identities"]), (account, "default", "Berlin", {}))
        self.assertEqual(self.signed_in("openid email")["email"], "Alice@Example.com")

    def test_own_claims_do_not_replace_them(self):
        account = self.account(password=PASSWORD)
        self.call("account.setClaims", accountId=account, claims={"oid": "forged", "tid": "forged", "level": 3})
        self.assertEqual(self.signed_in("openid")["oid"], "forged")
        self.call("tenant.update", tenantId="default", idTokenProfile=True)
        claims = self.signed_in("openid profile")
        self.assertEqual((claims["oid"], claims["tid"], claims["level"]), (account, "default", 3))


class OwnProfile(NativeFlows):
    def setUp(self):
        super().setUp()
        self.call("tenant.update", tenantId="default", attributes=[
            {"name": "displayName", "type": "string", "required": True}, {"name": "givenName", "type": "string"},
            {"name": "surname", "type": "string", "userWritable": False}, {"name": "city", "type": "string"},
            {"name": "color", "type": "string", "userWritable": True, "options": [{"value": "red"}, {"value": "blue"}]},
            {"name": "score", "type": "integer", "userReadable": False}])
        self.account_id = self.account(password=PASSWORD, attributes={"displayName": "Alice", "city": "Berlin", "score": 7})
        self.token = self.call("signIn.withPassword", username=ALICE, password=PASSWORD)["idToken"]

    def change(self, **attributes):
        return self.call("account.updateOwn", idToken=self.token, attributes=attributes)

    def test_user_reads_readable_attributes(self):
        me = self.call("account.me", idToken=self.token)
        self.assertEqual((me["accountId"], me["username"], me["emailVerified"], me["attributes"], me["factors"]),
                         (self.account_id, ALICE, True, {"displayName": "Alice", "city": "Berlin"}, []))

    def test_user_changes_writable_attributes(self):
        self.assertEqual(self.change(displayName="Alice M", givenName="Al", color="red")["attributes"],
                         {"displayName": "Alice M", "city": "Berlin", "givenName": "Al", "color": "red"})
        self.assertEqual(self.change(givenName=None)["attributes"], {"displayName": "Alice M", "city": "Berlin", "color": "red"})
        self.restart()
        self.assertEqual(self.call("account.get", accountId=self.account_id)["attributes"]["score"], 7)

    def test_refused_change_changes_nothing(self):
        for attributes in ({"city": "Rome"}, {"surname": "M"}, {"score": 8}, {"displayName": None}, {"displayName": ""}):
            error = self.fails("attributeNotYours", "account.updateOwn", idToken=self.token, attributes={"givenName": "Al", **attributes})
            self.assertEqual(error.data["name"], next(iter(attributes)))
        for attributes in ({"color": "green"}, {"shoe": 1}, {"givenName": 3}):
            self.fails("invalidAttributes", "account.updateOwn", idToken=self.token, attributes={"displayName": "B", **attributes})
        self.assertEqual(self.call("account.me", idToken=self.token)["attributes"], {"displayName": "Alice", "city": "Berlin"})

    def test_revoked_expired_and_access_tokens_are_refused(self):
        answer = self.call("signIn.withPassword", username=ALICE, password=PASSWORD)
        for method, more in (("account.me", {}), ("account.updateOwn", {"attributes": {"givenName": "Al"}})):
            self.fails("tokenUseMismatch", method, idToken=answer["accessToken"], **more)
        self.call("session.signOut", refreshToken=answer["refreshToken"])
        for method, more in (("account.me", {}), ("account.updateOwn", {"attributes": {"givenName": "Al"}})):
            self.fails("tokenRevoked", method, idToken=answer["idToken"], **more)
        self.call("test.clock", advanceSeconds=100_000)
        for method, more in (("account.me", {}), ("account.updateOwn", {"attributes": {"givenName": "Al"}})):
            self.fails("tokenExpired", method, idToken=self.token, **more)

    def test_parallel_changes_are_all_kept(self):
        others = [self.spawn(store=self.store, testing=True) for _ in range(3)]
        values = [{"givenName": "Al"}, {"color": "blue"}, {"displayName": "B"}]
        threads = [
            threading.Thread(target=each.call, args=("account.updateOwn", {"idToken": self.token, "attributes": value}))
            for each, value in zip(others, values)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.call("account.me", idToken=self.token)["attributes"],
                         {"displayName": "B", "city": "Berlin", "givenName": "Al", "color": "blue"})
