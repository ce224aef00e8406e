"""Common mistakes in implementations of identity pools. Each numbered test covers one of them."""

import json

import jwt

from endtoend import PRINCIPAL, EndToEnd, encode, make_pool, mint, pool_with_role, trust
from test_logins import Provider

UNKNOWN = "local-1:00000000-0000-0000-0000-000000000000"
FIRST, SECOND = "a.example", "b.example"


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


class Pools(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.first, cls.second = Provider(f"https://{FIRST}"), Provider(f"https://{SECOND}")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        self.settings = {"name": "shop", "developerProvider": "login.shop", "allowUnauthenticated": True, "allowClassicFlow": True,
                         "providers": [self.first.settings(), self.second.settings()]}
        self.pool = self.call("pool.create", **self.settings)["poolId"]
        self.reader = self.role("reader", trust(pool=self.pool))
        self.visitor = self.role("visitor", trust(**{"StringEquals": {f"{PRINCIPAL}:aud": self.pool}, "ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "unauthenticated"}}))
        self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": self.reader, "unauthenticated": self.visitor})

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def no(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)

    def wrong(self, pointer, rule, method, **params):
        self.assertIn((pointer, rule), self.violations(self.sidecar, method, params))

    def role(self, name, policy, **more):
        return self.call("role.put", name=name, trustPolicy=policy, **more)["roleArn"]

    def mint(self, user="alice", **more):
        return mint(self.sidecar, self.pool, user, **more)

    def guest(self):
        return self.call("identity.resolve", poolId=self.pool)["identityId"]

    def login(self, subject="carol", **more):
        return {FIRST: self.first.token(subject, **more)}

    def other(self, subject="carol"):
        return {SECOND: self.second.token(subject)}

    def resolve(self, logins):
        return self.call("identity.resolve", poolId=self.pool, logins=logins)["identityId"]

    def state(self, id):
        return self.call("identity.get", identityId=id)["state"]

    def test_01_developer_user_identifier_maps_to_one_identity(self):
        first = self.mint()
        self.assertEqual((first["isNewIdentity"], self.mint()["identityId"], self.mint()["isNewIdentity"]), (True, first["identityId"], False))
        for another in ("Alice", "alice ", " alice", "álice"):
            self.assertNotEqual(self.mint(another)["identityId"], first["identityId"], another)
        elsewhere = make_pool(self.sidecar)["poolId"]
        self.assertNotEqual(mint(self.sidecar, elsewhere)["identityId"], first["identityId"])

    def test_02_developer_logins_and_pool_tokens_are_rejected_as_public_logins(self):
        minted = self.mint()
        for name, value, wanted in [
                ("login.shop", "alice", "publicProviderRequired"), ("login.shop", minted["token"], "publicProviderRequired"),
                (PRINCIPAL, minted["token"], "poolTokenNotAccepted"), (FIRST, minted["token"], "poolTokenNotAccepted")]:
            self.no(wanted, "identity.resolve", poolId=self.pool, logins={name: value})
            self.no(wanted, "token.mint", identityId=minted["identityId"], logins={name: value})
        self.no("publicProviderRequired", "credentials.get", identityId=minted["identityId"], logins={"login.shop": "alice"})

    def test_03_classic_and_developer_tokens_have_different_lifetimes(self):
        carol = self.resolve(self.login())
        classic = claims(self.call("token.mint", identityId=carol, logins=self.login())["token"])
        self.assertEqual(classic["exp"] - classic["iat"], 600)
        self.wrong("/durationSeconds", "unknownParameter", "token.mint", identityId=carol, logins=self.login(), durationSeconds=60)
        for given, wanted in [({}, 900), ({"durationSeconds": 1}, 1), ({"durationSeconds": 86_400}, 86_400)]:
            developer = claims(self.mint(**given)["token"])
            self.assertEqual(developer["exp"] - developer["iat"], wanted)
        self.wrong("/durationSeconds", "maximum", "token.mintForDeveloper", poolId=self.pool, logins={"login.shop": "alice"}, durationSeconds=86_401)
        self.wrong("/durationSeconds", "minimum", "token.mintForDeveloper", poolId=self.pool, logins={"login.shop": "alice"}, durationSeconds=0)

    def test_04_developer_tokens_do_not_require_classic_flow(self):
        carol = self.resolve(self.login())
        self.call("pool.update", poolId=self.pool, **{**self.settings, "allowClassicFlow": False})
        token = self.mint()["token"]
        self.no("classicFlowDisabled", "token.mint", identityId=carol, logins=self.login())
        self.call("credentials.assumeRole", roleArn=self.reader, sessionName="me", token=token)

    def test_05_role_mappings_do_not_apply_to_developer_logins(self):
        mapping = {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [{"claim": "sub", "matchType": "equals", "value": "carol", "roleArn": self.visitor}]}
        self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": self.reader}, mappings={FIRST: mapping})
        token = self.call("token.mintForDeveloper", poolId=self.pool, logins={"login.shop": "alice", **self.login()})["token"]
        self.assertEqual(self.call("credentials.get", token=token)["roleArn"], self.reader)

    def test_06_role_mappings_accept_only_configured_provider_names(self):
        mapping = {"source": "token", "ambiguousRoleResolution": "authenticatedRole"}
        for name in (f"https://{FIRST}", "c.example", f"{FIRST}:shop", "login.shop"):  # test_user_pools.py covers user pools
            self.no("invalidRoleMapping", "pool.setRoles", poolId=self.pool, roles={}, mappings={name: mapping})
        self.call("pool.setRoles", poolId=self.pool, roles={}, mappings={FIRST: mapping})

    def test_07_not_equal_rule_does_not_match_absent_claim(self):
        mapping = {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [{"claim": "team", "matchType": "notEqual", "value": "red", "roleArn": self.reader}]}
        self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": self.reader}, mappings={FIRST: mapping})
        carol = self.resolve(self.login())
        self.no("ambiguousRoleDenied", "credentials.get", identityId=carol, logins=self.login())
        self.no("ambiguousRoleDenied", "credentials.get", identityId=carol, logins=self.login(team="red"))
        self.assertEqual(self.call("credentials.get", identityId=carol, logins=self.login(team="blue"))["roleArn"], self.reader)

    def test_08_amr_is_a_list_and_set_operators_accept_empty_sets(self):
        token, aud = self.mint()["token"], {"StringEquals": {f"{PRINCIPAL}:aud": self.pool}}
        for conditions, allowed in [
                ({"StringLike": {f"{PRINCIPAL}:amr": "authenticated"}}, False), ({"ForAnyValue:StringEquals": {f"{PRINCIPAL}:amr": "authenticated"}}, True),
                ({"ForAnyValue:StringEquals": {"aws:RequestTag/team": "blue"}}, False), ({"ForAllValues:StringEquals": {"aws:RequestTag/team": "blue"}}, True)]:
            role = self.role("tried", trust(**{**aud, **conditions}))
            if allowed:
                self.call("credentials.assumeRole", roleArn=role, sessionName="me", token=token)
            else:
                self.no("assumeRoleDenied", "credentials.assumeRole", roleArn=role, sessionName="me", token=token)

    def test_09_single_tag_requires_tag_session(self):
        statement = {**trust(pool=self.pool)["Statement"][0], "Action": "sts:AssumeRoleWithWebIdentity"}
        role = self.role("untagged", trust(statement))
        self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": role})
        self.call("credentials.get", token=self.mint()["token"])
        tagged = self.mint(principalTags={"plan": "gold"})["token"]
        self.no("assumeRoleDenied", "credentials.assumeRole", roleArn=role, sessionName="me", token=tagged)
        error = self.no("roleNotConfigured", "credentials.get", token=tagged)
        self.assertIn("sts:TagSession", error.message)

    def test_10_update_replaces_everything_except_developer_provider(self):
        updated = self.call("pool.update", poolId=self.pool, name="other")
        self.assertEqual(updated["developerProvider"], "login.shop")
        self.assertEqual((updated["allowUnauthenticated"], updated["allowClassicFlow"], updated.get("providers", [])), (False, False, []))

    def test_11_developer_provider_cannot_change(self):
        self.no("developerProviderFixed", "pool.update", poolId=self.pool, name="shop", developerProvider="login.other")
        self.call("pool.update", poolId=self.pool, name="shop", developerProvider="login.shop")
        without = self.call("pool.create", name="plain")["poolId"]
        self.assertEqual(self.call("pool.update", poolId=without, name="plain", developerProvider="login.late")["developerProvider"], "login.late")

    def test_12_identity_without_logins_is_disabled_and_not_a_guest(self):
        alice = self.mint()["identityId"]
        self.call("identity.unlinkDeveloper", poolId=self.pool, identityId=alice, developerProvider="login.shop", developerUserIdentifier="alice")
        carol = self.resolve(self.login())
        self.call("identity.unlink", identityId=carol, logins=self.login(), loginsToRemove=[FIRST])
        for id in (alice, carol):
            self.assertEqual(self.state(id), "disabled")
            self.no("identityDisabled", "token.mint", identityId=id)
        self.assertTrue(self.mint()["isNewIdentity"])
        self.assertNotEqual(self.resolve(self.login()), carol)

    def test_13_merged_identity_is_disabled_and_not_deleted(self):
        child, parent = self.mint("one")["identityId"], self.mint("two")["identityId"]
        self.call("identity.mergeDevelopers", poolId=self.pool, developerProvider="login.shop", sourceUserIdentifier="one", destinationUserIdentifier="two")
        self.no("identityDisabled", "token.mintForDeveloper", poolId=self.pool, identityId=child, logins={"login.shop": "one"})
        listed = lambda **more: [each["identityId"] for each in self.call("identity.list", poolId=self.pool, **more)["identities"]]
        self.assertEqual((sorted(listed()), listed(hideDisabled=True)), (sorted([child, parent]), [parent]))

    def test_14_response_contains_resolved_identity_id(self):
        carol, guest, another = self.resolve(self.login()), self.guest(), self.guest()
        self.assertEqual(self.call("token.mint", identityId=guest, logins=self.login())["identityId"], carol)
        self.assertEqual(self.call("credentials.get", identityId=another, logins=self.login())["identityId"], carol)
        self.no("identityDisabled", "credentials.get", identityId=guest)

    def test_14_resolved_identity_id_is_stored_and_notified(self):
        carol, provider = self.resolve(self.login()), self.open()
        guest = self.get(provider)["identityId"]
        self.call("credentialsProvider.setLogins", provider=provider, logins=self.login())
        self.assertEqual(self.get(provider)["identityId"], carol)
        told = self.sidecar.receive(lambda message: message.get("method") == "credentialsProvider/identityChanged")
        self.assertEqual(told["params"], {"provider": provider, "oldIdentityId": guest, "newIdentityId": carol})
        self.call("credentialsProvider.close", provider=provider)
        again = self.call("credentialsProvider.open", poolId=self.pool)
        self.assertEqual(again["identityId"], carol)

    def open(self, **more):
        return self.call("credentialsProvider.open", poolId=self.pool, **more)["provider"]

    def get(self, provider):
        return self.call("credentialsProvider.get", provider=provider)

    def principal(self, answer):
        return self.call("credentials.verify", sessionToken=answer["credentials"]["sessionToken"])["principal"]

    def test_15_one_invalid_login_links_nothing(self):
        guest = self.guest()
        for bad in ({SECOND: self.second.token(exp=1)}, {SECOND: self.first.token()}):
            self.no("loginTokenInvalid", "token.mint", identityId=guest, logins={**self.login(), **bad})
            self.no("loginTokenInvalid", "token.mintForDeveloper", poolId=self.pool, identityId=guest, logins={"login.shop": "alice", **self.login(), **bad})
        self.assertEqual((self.state(guest), self.call("identity.get", identityId=guest)["logins"]), ("guest", []))
        self.assertEqual(len(self.call("identity.list", poolId=self.pool)["identities"]), 1)

    def test_16_only_guests_can_be_claimed_by_identity_id(self):
        carol, alice, guest = self.resolve(self.login()), self.mint()["identityId"], self.guest()
        for id in (carol, alice):
            self.no("loginsDoNotMatch", "token.mintForDeveloper", poolId=self.pool, identityId=id, logins={"login.shop": "mallory"})
        self.assertEqual(self.mint("mallory", identityId=guest)["identityId"], guest)

    def test_17_request_has_at_most_ten_logins_and_identity_twenty(self):
        self.wrong("/logins", "maxProperties", "identity.resolve", poolId=self.pool, logins={f"p{number}.example": "x" for number in range(11)})
        carol = self.resolve(self.login())
        for number in range(19):
            self.mint(f"user {number}", identityId=carol, logins={"login.shop": f"user {number}", **self.login()})
        self.no("loginConflict", "token.mintForDeveloper", poolId=self.pool, identityId=carol, logins={"login.shop": "user 19", **self.login()})
        found = self.call("identity.lookupDeveloper", poolId=self.pool, identityId=carol)["developerUserIdentifiers"]
        self.assertEqual(len(found), 19)
        self.no("loginConflict", "token.mint", identityId=carol, logins={**self.login(), **self.other()})
        dave = self.resolve({**self.login("dave"), **self.other("dave")})
        self.assertEqual(sorted(self.call("identity.get", identityId=dave)["logins"]), [FIRST, SECOND])
        erin = self.resolve(self.login("erin"))
        self.no("loginConflict", "credentials.get", identityId=erin, logins={**self.login("erin"), **self.other("dave")})

    def test_18_identity_ids_have_strict_syntax(self):
        for odd in ("local-1:157d6171-ee37-c0dd-c6c5-ce7afc0154ab", "local-1:0", "x:-"):
            self.no("identityNotFound", "identity.get", identityId=odd)
        for wrong in ("local-1:157D6171-EE37-C0DD-C6C5-CE7AFC0154AB", "157d6171-ee37-c0dd-c6c5-ce7afc0154ab", "local-1:", ":0", "löcal:0", "local-1:0\n"):
            self.wrong("/identityId", "pattern", "identity.get", identityId=wrong)
        self.wrong("/identityId", "maxLength", "identity.get", identityId="local-1:" + "0" * 48)

    def test_19_token_header_is_informative_and_does_not_choose_algorithm(self):
        token = self.mint()["token"]
        header = jwt.get_unverified_header(token)
        self.assertEqual((header["typ"], header["alg"]), ("pool+jwt", "ES256"))
        self.assertTrue(header["kid"])
        body, signature = token.split(".")[1:]
        for change in ({"alg": "none"}, {"alg": "HS256"}, {"alg": "RS256"}, {"alg": "ES384"}):
            forged = f"{encode({**header, **change})}.{body}.{signature}"
            self.no({"tokenAlgorithmNotAllowed", "tokenSignatureInvalid"}, "token.verify", token=forged, audience=self.pool)
            self.no({"tokenAlgorithmNotAllowed", "tokenSignatureInvalid"}, "credentials.get", token=forged)
        self.no("tokenAlgorithmNotAllowed", "credentials.get", token=f"{encode({**header, 'alg': 'none'})}.{body}.")

    def test_20_token_of_other_pool_is_rejected(self):
        other, _ = pool_with_role(self.sidecar)
        token = mint(self.sidecar, other)["token"]
        self.no("tokenAudienceMismatch", "token.verify", token=token, audience=self.pool)
        issuer = self.call("pool.get", poolId=self.pool)["issuer"]
        self.no("tokenIssuerMismatch", "token.verify", token=token, issuer=issuer)
        self.assertNotEqual(claims(token)["iss"], issuer)
        self.violations(self.sidecar, "token.verify", {"token": token})

    def test_21_every_guest_is_a_new_identity(self):
        self.assertEqual(len({self.guest() for _ in range(20)}), 20)

    def test_22_credentials_have_fixed_member_names_and_integer_times(self):
        token = self.mint()["token"]
        for bought in (self.call("credentials.get", token=token), self.call("credentials.assumeRole", roleArn=self.reader, sessionName="me", token=token)):
            self.assertEqual(set(bought["credentials"]), {"accessKeyId", "secretAccessKey", "sessionToken", "expiresAt"})
            self.assertIs(type(bought["credentials"]["expiresAt"]), int)

    def test_23_session_longer_than_role_maximum_fails(self):
        ask = {"roleArn": self.reader, "token": self.mint()["token"]}
        self.no("durationExceedsRoleMaximum", "credentials.assumeRole", **ask, sessionName="me", durationSeconds=3601)
        for seconds in (899, 43_201):
            self.wrong("/durationSeconds", "minimum" if seconds < 900 else "maximum", "credentials.assumeRole", **ask, sessionName="me", durationSeconds=seconds)
        self.wrong("/sessionName", "minLength", "credentials.assumeRole", **ask, sessionName="m")
        for name in ("m e", "m/e", "mé", "me\n"):
            self.wrong("/sessionName", "pattern", "credentials.assumeRole", **ask, sessionName=name)
        self.wrong("/sessionName", "maxLength", "credentials.assumeRole", **ask, sessionName="m" * 65)

    def test_24_credentials_outlive_exchanged_token(self):
        token = self.mint(durationSeconds=30)["token"]
        now = self.call("system.ping")["now"]
        self.assertGreaterEqual(self.call("credentials.get", token=token)["credentials"]["expiresAt"], now + 3600)
        self.assertGreaterEqual(self.call("credentials.assumeRole", roleArn=self.reader, sessionName="me", token=token)["credentials"]["expiresAt"], now + 3600)

    def test_25_malformed_id_fails_with_pattern_violation(self):
        for method, member in [("pool.get", "poolId"), ("identity.get", "identityId"), ("identity.resolve", "poolId"), ("credentials.get", "identityId")]:
            error = self.no("invalidParams", method, **{member: "NOT AN ID"})
            violation, = error.data["violations"]
            self.assertEqual((violation["pointer"], violation["rule"]), (f"/{member}", "pattern"))
        self.no("poolNotFound", "pool.get", poolId=UNKNOWN)

    def test_26_mapping_has_at_most_25_rules(self):
        rule = {"claim": "team", "matchType": "equals", "value": "red", "roleArn": self.reader}
        ask = lambda count: {FIRST: {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [rule] * count}}
        self.call("pool.setRoles", poolId=self.pool, roles={}, mappings=ask(25))
        found = self.violations(self.sidecar, "pool.setRoles", {"poolId": self.pool, "roles": {}, "mappings": ask(26)})
        self.assertEqual({rule for _, rule in found}, {"maxItems"})

    def test_27_pool_list_contains_only_ids_and_names(self):
        pools = self.call("pool.list")["pools"]
        self.assertEqual(pools, [{"poolId": self.pool, "name": "shop"}])

    def test_28_identity_list_does_not_contain_user_names(self):
        self.mint("alice@example.com")
        self.resolve({**self.login("carol@example.com")})
        described = json.dumps(self.call("identity.list", poolId=self.pool))
        self.assertIn("login.shop", described)
        self.assertNotIn("@", described)

    def test_29_principal_tag_keys_ignore_case_and_pool_tag_keys_do_not(self):
        self.no("invalidPrincipalTags", "token.mintForDeveloper", poolId=self.pool, logins={"login.shop": "alice"}, principalTags={"Plan": "gold", "plan": "silver"})
        kept = self.call("credentials.get", token=self.mint(principalTags={"Plan": "gold"})["token"])["credentials"]["sessionToken"]
        self.assertEqual(self.call("credentials.verify", sessionToken=kept)["principal"]["tags"], {"Plan": "gold"})
        tagged = self.call("pool.tag", poolId=self.pool, tags={"Team": "blue", "team": "red"})
        self.assertEqual(tagged["tags"], {"Team": "blue", "team": "red"})

    def test_30_concurrent_first_sign_ins_and_links_create_one_identity(self):
        for subject in ("first", "second", "third"):
            logins, ids = self.login(subject), [self.sidecar.send("identity.resolve", {"poolId": self.pool, "logins": self.login(subject)}) for _ in range(20)]
            self.assertEqual(len({self.sidecar.answer(id)["identityId"] for id in ids}), 1)
            guests = [self.guest() for _ in range(5)]
            asked = [self.sidecar.send("token.mint", {"identityId": guest, "logins": {**logins, **self.other(subject)}}) for guest in guests]
            self.assertEqual({self.sidecar.answer(id)["identityId"] for id in asked}, {self.resolve(logins)})

    def test_31_guest_gets_new_credentials_after_sign_in(self):
        provider = self.open()
        guest = self.get(provider)
        self.assertEqual(self.get(provider), guest)     # The cached credentials are returned until they expire.
        self.call("credentialsProvider.setLogins", provider=provider, logins=self.login())
        carol = self.get(provider)
        self.assertNotEqual(carol["credentials"]["accessKeyId"], guest["credentials"]["accessKeyId"])
        self.assertEqual((carol["identityId"], guest["roleArn"], carol["roleArn"]), (guest["identityId"], self.visitor, self.reader))
        self.assertEqual(self.principal(carol)["roleArn"], self.reader)
        # A sign-in outside the credentials provider does not change its cached credentials.
        other = self.open(key="other")
        held = self.get(other)
        self.call("credentials.get", identityId=held["identityId"], logins=self.login("dave"))
        self.assertEqual(self.get(other), held)

    def test_32_clearing_credentials_keeps_guest_identity(self):
        provider = self.open()
        before = self.get(provider)
        self.assertEqual(self.call("credentialsProvider.clearCredentials", provider=provider)["identityId"], before["identityId"])
        after = self.get(provider)
        self.assertEqual(after["identityId"], before["identityId"])
        self.assertNotEqual(after["credentials"]["accessKeyId"], before["credentials"]["accessKeyId"])
        self.call("credentialsProvider.clearCredentials", provider=provider)
        self.call("credentialsProvider.setLogins", provider=provider, logins=self.login())
        self.assertEqual((self.get(provider)["identityId"], self.state(before["identityId"])), (before["identityId"], "authenticated"))

    def test_33_clearing_keychain_separates_users(self):
        provider = self.open(logins=self.login())
        carol = self.get(provider)["identityId"]
        # While the identity ID is kept, a login of another user does not match it, and another login of the same user is linked to it.
        self.call("credentialsProvider.setLogins", provider=provider, logins=self.login("dave"))
        self.no("loginsDoNotMatch", "credentialsProvider.get", provider=provider)
        self.call("credentialsProvider.setLogins", provider=provider, logins={**self.login(), **self.other()})
        self.assertEqual(self.get(provider)["identityId"], carol)
        self.assertEqual(len(self.call("identity.get", identityId=carol)["logins"]), 2)
        # After the ID is cleared, the users have separate identities.
        self.call("credentialsProvider.clearKeychain", provider=provider)
        self.call("credentialsProvider.setLogins", provider=provider, logins=self.login("dave"))
        dave = self.get(provider)["identityId"]
        self.assertNotEqual(dave, carol)
        self.assertEqual((self.state(carol), self.state(dave)), ("authenticated", "authenticated"))
        self.call("credentialsProvider.clearKeychain", provider=provider)
        guest = self.get(provider)["identityId"]
        self.assertEqual((guest in (carol, dave), self.state(guest)), (False, "guest"))

    def test_34_empty_logins_resolve_to_guest(self):
        self.assertEqual(self.state(self.resolve({})), "guest")
        guest = self.guest()
        self.assertEqual(claims(self.call("token.mint", identityId=guest, logins={})["token"])["amr"], ["unauthenticated"])
        self.no("identityForbidden", "token.mint", identityId=self.resolve(self.login()), logins={})

    def test_35_developer_user_identifier_has_at_most_1024_characters_and_tokens_more(self):
        self.mint("é" * 1024)
        error = self.no({"invalidLogin", "invalidParams"}, "token.mintForDeveloper", poolId=self.pool, logins={"login.shop": "é" * 1025})
        self.assertIn("1024", error.message + json.dumps(error.data))
        self.no("loginTokenInvalid", "identity.resolve", poolId=self.pool, logins={FIRST: "x" * 50_000})
