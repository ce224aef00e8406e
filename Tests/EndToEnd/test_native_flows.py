"""Flows in an application's own pages: what it accepts, starts without a message, deferred tokens, and kinds of second factors."""

import concurrent.futures

from nativeflows import ALICE, PASSWORD, NativeFlows
from sidecar import RpcError
from test_logins import Provider

NUMBER = "+4915112345678"


class Accepts(NativeFlows):
    def redirected(self, missing, method, **params):
        """Checks that a call redirects, sends nothing, and leaves no token."""
        before = self.sidecar.call("test.outbox", {})
        answer = self.call(method, **params)
        self.assertEqual((answer["state"], answer["missing"], sorted(answer)), ("redirectRequired", missing, ["missing", "reason", "state"]))
        self.assertEqual(self.sidecar.call("test.outbox", {}), before)
        return answer

    def test_sign_up_needs_what_the_tenant_demands(self):
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword")
        self.redirected(["code"], "signUp.start", username=ALICE, accepts=["password"])
        self.redirected(["password"], "signUp.start", username=ALICE, accepts=["code"])
        self.redirected(["code", "password"], "signUp.start", username=ALICE, accepts=[])
        self.assertEqual(self.call("signUp.start", username=ALICE, accepts=["code", "password"])["state"], "codeRequired")
        self.call("tenant.update", tenantId="default", localAccountMethod="either")
        self.redirected(["password"], "signUp.start", username="bob@example.com", password=PASSWORD, accepts=["code"])
        self.assertEqual(self.call("signUp.start", username="bob@example.com", accepts=["code"])["state"], "codeRequired")
        self.call("tenant.update", tenantId="default", localAccountMethod="emailCode")
        self.assertEqual(self.call("signUp.start", username="carol@example.com", accepts=["code"])["state"], "codeRequired")
        self.fails("invalidUsername", "signUp.start", username="nobody", accepts=[])

    def test_sign_in_needs_what_the_account_demands(self):
        self.account(password=PASSWORD)
        self.account("code@example.com")
        self.redirected(["password"], "signIn.start", username=ALICE, accepts=["code"])
        self.redirected(["code"], "signIn.start", username="code@example.com", accepts=["password"])
        self.redirected(["password"], "signIn.withPassword", username=ALICE, password="wrong", accepts=["code"])
        self.fails("userNotFound", "signIn.start", username="nobody@example.com", accepts=[])
        self.fails("userNotFound", "signIn.withPassword", username="nobody@example.com", password=PASSWORD, accepts=[])
        self.redirected(["code"], "passwordReset.start", username=ALICE, accepts=["password"])
        reset = self.call("passwordReset.start", username=ALICE, accepts=["code"])
        step = self.call("passwordReset.submitCode", continuationToken=reset["continuationToken"], code=self.code())
        self.assertEqual(step["state"], "passwordRequired")

    def test_redirected_sign_ins_count_no_failure(self):
        self.account(password=PASSWORD)
        for _ in range(12):
            self.redirected(["password"], "signIn.withPassword", username=ALICE, password="wrong", accepts=["secondFactor"])
        self.assertEqual(self.call("signIn.withPassword", username=ALICE, password=PASSWORD, accepts=["password"])["state"], "completed")

    def test_second_factor_redirects_after_the_first(self):
        for mfa, needed in (("required", "enrollment"), ("optional", "secondFactor")):
            if mfa == "required":
                self.account(password=PASSWORD)
            self.call("tenant.update", tenantId="default", mfa=mfa)
            self.redirected([needed], "signIn.withPassword", username=ALICE, password=PASSWORD, accepts=["password"])
            start = self.call("signIn.start", username=ALICE, accepts=["password"])
            token = start["continuationToken"]
            first = self.redirected([needed], "signIn.submitPassword", continuationToken=token, password=PASSWORD)
            self.assertEqual(self.call("signIn.submitPassword", continuationToken=token, password=PASSWORD), first)
            step = self.call("signIn.withPassword", username=ALICE, password=PASSWORD, accepts=["password", needed])
            if needed == "enrollment":
                step = self.call("mfa.enroll", continuationToken=step["continuationToken"], kind="sms", phoneNumber=NUMBER)
                self.call("mfa.confirm", continuationToken=step["continuationToken"], code=self.code(NUMBER))
            else:
                self.assertEqual(step["state"], "secondFactorRequired")

    def test_account_with_a_provider_only(self):
        provider = Provider("https://work.example.com")
        self.call("idp.create", providerId="oidc.work", clientId="shop", issuer=provider.issuer, keys=[provider.jwk])
        credential = {"providerId": "oidc.work", "idToken": provider.token("carol", email=ALICE, email_verified=False)}
        self.assertEqual(self.call("signIn.withCredential", credential=credential)["state"], "completed")
        self.redirected(["provider"], "signIn.start", username=ALICE, accepts=["code", "password"])
        self.assertEqual(self.call("signIn.start", username=ALICE, accepts=["provider"])["state"], "providerRequired")

    def test_protected_addresses_answer_alike(self):
        self.account("code@example.com")
        self.call("tenant.update", tenantId="default", enumerationProtection=True, localAccountMethod="emailPassword")
        for address in ("code@example.com", "nobody@example.com"):
            self.redirected(["password"], "signIn.start", username=address, accepts=["code"])
            self.assertEqual(self.call("signIn.start", username=address, accepts=["password"])["state"], "passwordRequired")


class QuietStarts(NativeFlows):
    def test_start_and_challenge_send_exactly_one_message(self):
        self.account(password=PASSWORD)
        self.account("code@example.com")
        for namespace, address in (("signUp", "new@example.com"), ("signIn", "code@example.com"), ("passwordReset", ALICE)):
            with self.subTest(namespace):
                self.restarting = True
                step = self.call(f"{namespace}.start", username=address, send=False)
                self.assertEqual((step["state"], step["sent"]), ("codeRequired", False))
                self.assertEqual(self.call(f"{namespace}.start", username=address, send=False), step)
                self.assertEqual(self.sent(address), [])
                early = self.fails("stepNotPossible", f"{namespace}.submitCode", continuationToken=step["continuationToken"], code="12345678")
                self.assertEqual(early.data["expected"], f"{namespace}.challenge")
                sent = self.call(f"{namespace}.challenge", continuationToken=step["continuationToken"])
                self.assertNotIn("sent", sent)
                self.assertEqual(self.call(f"{namespace}.challenge", continuationToken=step["continuationToken"]), sent)
                self.assertEqual(len(self.sent(address)), 1)
                again = self.call(f"{namespace}.challenge", continuationToken=sent["continuationToken"])
                old, new = self.sent(address)
                self.fails("invalidCode", f"{namespace}.submitCode", continuationToken=again["continuationToken"], code=old)
                self.call(f"{namespace}.submitCode", continuationToken=again["continuationToken"], code=new)
                self.fails(("continuationTokenInvalid", "flowFinished", "stepNotPossible"), f"{namespace}.challenge", continuationToken=again["continuationToken"])
                self.restarting = False

    def test_parallel_challenges_send_one_message(self):
        step = self.call("signUp.start", username=ALICE, send=False)
        others = [self.sidecar, self.spawn(store=self.store, testing=True)] * 3

        def challenge(sidecar):
            try:
                return sidecar.call("signUp.challenge", {"continuationToken": step["continuationToken"]})["continuationToken"]
            except RpcError as error:
                return error.type

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = set(pool.map(challenge, others[:2]))
        self.assertEqual((len(answers), len(self.sent())), (1, 1))

    def test_challenge_where_a_password_is_due_sends_nothing(self):
        self.account(password=PASSWORD)
        step = self.call("signIn.start", username=ALICE, send=False)
        self.assertEqual(step["state"], "passwordRequired")
        step = self.call("signIn.challenge", continuationToken=step["continuationToken"])
        self.assertEqual((step["state"], self.sent()), ("passwordRequired", []))
        self.assertEqual(self.call("signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)["state"], "completed")
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword")
        step = self.call("signUp.start", username="new@example.com")
        step = self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=self.code("new@example.com"))
        refused = self.call("signUp.challenge", continuationToken=step["continuationToken"], accepts=["code"])
        self.assertEqual((refused["state"], refused["missing"]), ("redirectRequired", ["password"]))
        step = self.call("signUp.challenge", continuationToken=step["continuationToken"])
        self.assertEqual(step["state"], "passwordRequired")
        self.assertEqual(self.call("signUp.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)["state"], "completed")

    def test_challenge_of_another_application_or_flow_changes_nothing(self):
        self.call("application.put", clientId="mobile")
        step = self.call("signUp.start", username=ALICE, send=False, clientId="mobile")
        token = step["continuationToken"]
        self.fails("continuationTokenInvalid", "signUp.challenge", continuationToken=token, clientId="default")
        self.fails("continuationTokenInvalid", "signIn.challenge", continuationToken=token)
        self.fails("continuationTokenInvalid", "passwordReset.challenge", continuationToken=token)
        refused = self.call("signUp.challenge", continuationToken=token, accepts=["password"])
        self.assertEqual((refused["missing"], self.sent()), (["code"], []))
        self.assertEqual(self.call("signUp.challenge", continuationToken=token, clientId="mobile")["state"], "codeRequired")

    def test_protected_quiet_start_of_an_unknown_address_returns_the_same(self):
        self.account("code@example.com")
        self.call("tenant.update", tenantId="default", enumerationProtection=True, localAccountMethod="emailCode")
        shown = []
        for address in ("code@example.com", "none@example.com"):
            step = self.call("signIn.start", username=address, send=False)
            sent = self.call("signIn.challenge", continuationToken=step["continuationToken"])
            error = self.fails("invalidCode", "signIn.submitCode", continuationToken=sent["continuationToken"], code="00000000")
            shown.append((sorted(step), step["state"], sorted(sent), error.data["attemptsLeft"]))
        self.assertEqual(shown[0], shown[1])


class DeferredTokens(NativeFlows):
    def setUp(self):
        super().setUp()
        self.account(password=PASSWORD)
        self.call("tenant.update", tenantId="default", mfa="required", audiences=["orders"], scopes=["read"])

    def enrolled(self, **more):
        step = self.call("signIn.withPassword", username=ALICE, password=PASSWORD, audience="orders", scope="openid read", **more)
        step = self.call("mfa.enroll", continuationToken=step["continuationToken"], kind="sms", phoneNumber=NUMBER)
        return self.call("mfa.confirm", continuationToken=step["continuationToken"], code=self.code(NUMBER), deferTokens=True)

    def test_confirm_and_resolve_defer_tokens_across_restarts(self):
        self.restarting = True
        step = self.enrolled()
        self.assertEqual((step["state"], sorted(step)), ("tokensDeferred", ["continuationToken", "expiresAt", "state"]))
        answer = self.call("signIn.withContinuation", continuationToken=step["continuationToken"])
        claims = self.claims(answer["accessToken"])
        self.assertEqual((claims["aud"], claims["scope"], sorted(claims["amr"])), ("orders", "openid read", ["mfa", "pwd", "sms"]))
        self.assertEqual(self.claims(answer["idToken"])["mintmark"]["second_factor"]["kind"], "sms")
        self.fails("flowFinished", "signIn.withContinuation", continuationToken=step["continuationToken"])
        step = self.call("signIn.start", username=ALICE)
        step = self.call("signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)
        factor = step["hints"][0]["factorId"]
        step = self.call("mfa.challenge", continuationToken=step["continuationToken"], factorId=factor)
        params = {"continuationToken": step["continuationToken"], "code": self.code(NUMBER), "deferTokens": True}
        step = self.call("mfa.resolve", **params)
        self.assertEqual(self.call("mfa.resolve", **params), step)
        self.fails(("continuationTokenInvalid", "stepNotPossible"), "mfa.resolve", continuationToken=step["continuationToken"], code="1", factorId=factor)
        answer = self.call("signIn.withContinuation", continuationToken=step["continuationToken"], audience="default", scope="openid")
        self.assertEqual((self.claims(answer["accessToken"])["aud"], answer["scope"]), ("default", "openid"))
        self.fails("flowFinished", "signIn.withContinuation", continuationToken=step["continuationToken"])

    def test_deferred_token_expires_after_five_minutes(self):
        self.call("test.clock", setAt=1_800_000_000, freeze=True)
        step = self.enrolled()
        self.assertEqual(step["expiresAt"], 1_800_000_300)
        self.call("test.clock", advanceSeconds=300)
        self.fails("continuationTokenExpired", "signIn.withContinuation", continuationToken=step["continuationToken"])

    def test_pending_sign_in_cannot_skip_its_second_factor(self):
        step = self.call("signIn.withPassword", username=ALICE, password=PASSWORD)
        self.fails("continuationTokenInvalid", "signIn.withContinuation", continuationToken=step["continuationToken"])
        step = self.call("mfa.enroll", continuationToken=step["continuationToken"], kind="sms", phoneNumber=NUMBER)
        self.fails("continuationTokenInvalid", "signIn.withContinuation", continuationToken=step["continuationToken"])
        start = self.call("signIn.start", username=ALICE)
        self.fails("continuationTokenInvalid", "signIn.withContinuation", continuationToken=start["continuationToken"])

    def test_parallel_redemptions_give_tokens_once(self):
        step = self.enrolled()
        others = [self.sidecar, self.spawn(store=self.store, testing=True)]

        def redeem(sidecar):
            try:
                return sidecar.call("signIn.withContinuation", {"continuationToken": step["continuationToken"]})["state"]
            except RpcError as error:
                return error.type

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual(sorted(pool.map(redeem, others)), ["completed", "flowFinished"])

    def test_deletion_of_the_account_ends_deferred_tokens(self):
        step = self.enrolled()
        account = self.call("account.find", username=ALICE)["accountId"]
        self.call("account.delete", accountId=account)
        self.fails(("flowEnded", "continuationTokenExpired", "continuationTokenInvalid"), "signIn.withContinuation", continuationToken=step["continuationToken"])


class Kinds(NativeFlows):
    def setUp(self):
        super().setUp()
        self.call("tenant.update", tenantId="default", mfa="required")

    def pending(self):
        return self.call("signIn.withPassword", username=ALICE, password=PASSWORD)

    def test_kinds_name_the_verified_address(self):
        self.account(password=PASSWORD)
        step = self.pending()
        self.assertEqual(step["kinds"], [{"kind": "totp"}, {"kind": "email", "hint": "a***@e***.com", "verified": True}, {"kind": "sms"}])
        self.assertEqual([each["kind"] for each in step["kinds"]], step["factorKinds"])
        self.account("code@example.com")
        start = self.call("signIn.start", username="code@example.com")
        step = self.call("signIn.submitCode", continuationToken=start["continuationToken"], code=self.code("code@example.com"))
        self.assertEqual([each for each in step["kinds"] if each["kind"] == "email"], [{"kind": "email"}])
        self.fails("factorAddsNothing", "mfa.enroll", continuationToken=step["continuationToken"], kind="email", skipVerified=True)

    def test_verified_address_becomes_a_factor_without_a_code(self):
        self.restarting = True
        self.account(password=PASSWORD)
        step = self.call("mfa.enroll", continuationToken=self.pending()["continuationToken"], kind="email", skipVerified=True)
        self.assertEqual((step["verified"], step["sentTo"], self.sent()), (True, "a***@e***.com", []))
        step = self.call("mfa.confirm", continuationToken=step["continuationToken"], deferTokens=True)
        answer = self.call("signIn.withContinuation", continuationToken=step["continuationToken"])
        self.assertEqual([each["kind"] for each in answer["account"]["factors"]], ["email"])

    def test_other_addresses_and_earlier_callers_need_a_code(self):
        self.account(password=PASSWORD)
        for more in ({"email": "other@example.com", "skipVerified": True}, {}):
            step = self.call("mfa.enroll", continuationToken=self.pending()["continuationToken"], kind="email", **more)
            self.assertNotIn("verified", step)
            self.assertEqual(
                self.violations(self.sidecar, "mfa.confirm", {"continuationToken": step["continuationToken"]}), {("/code", "required")})
            self.assertEqual(len(self.sent(more.get("email", ALICE))), 1)

    def test_unverified_address_needs_a_code(self):
        account = self.account(password=PASSWORD)
        self.call("account.update", accountId=account, emailVerified=False)
        step = self.pending()
        self.assertEqual(step["kinds"], [{"kind": "email"}])
        step = self.call("mfa.enroll", continuationToken=step["continuationToken"], kind="email", skipVerified=True)
        self.assertNotIn("verified", step)

    def test_changed_address_ends_the_enrollment(self):
        account = self.account(password=PASSWORD)
        step = self.call("mfa.enroll", continuationToken=self.pending()["continuationToken"], kind="email", skipVerified=True)
        self.call("account.update", accountId=account, username="new@example.com", emailVerified=True)
        self.fails(("flowEnded", "continuationTokenInvalid"), "mfa.confirm", continuationToken=step["continuationToken"])


class AttributesInVain(NativeFlows):
    def test_tokens_of_vain_attributes_stay_valid_until_one_succeeds(self):
        self.call("tenant.update", tenantId="default", attributes=[
            {"name": name, "type": "string", "required": True} for name in ("displayName", "city")])
        step = self.sign_up()
        first = step["continuationToken"]
        second = self.call("signUp.submitAttributes", continuationToken=first, attributes={"city": "Rome"})["continuationToken"]
        self.restart()
        third = self.call("signUp.submitAttributes", continuationToken=first, attributes={"city": "Oslo"})["continuationToken"]
        self.assertEqual(len({first, second, third}), 3)
        self.fails("invalidAttributes", "signUp.submitAttributes", continuationToken=second, attributes={"shoe": 1})
        step = self.call("signUp.submitAttributes", continuationToken=second, attributes={"displayName": "Alice"})
        self.assertEqual(step["state"], "completed")
        for token in (first, third):
            self.fails("continuationTokenInvalid", "signUp.submitAttributes", continuationToken=token, attributes={"displayName": "B"})
        account = self.call("account.get", accountId=step["accountId"])
        self.assertEqual(account["attributes"], {"city": "Oslo", "displayName": "Alice"})
