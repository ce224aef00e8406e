"""account.changeEmail and account.submitCode with concurrent requests, wrong codes, public callers and process restarts."""

import signal

from endtoend import EndToEnd
from sidecar import RpcError

ALICE, NEW = "alice@example.com", "new@example.com"
PASSWORD = "correct Horse 9"


class Addresses(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("people.db")
        self.sidecar = self.spawn(testing=True, store=self.store)

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def no(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)

    def account(self, address=ALICE, **more):
        return self.call("account.create", username=address, password=PASSWORD, emailVerified=True, **more)["accountId"]

    def sign_in(self, address=ALICE):
        return self.call("signIn.withPassword", username=address, password=PASSWORD)

    def mails(self, address):
        return self.call("test.outbox", to=address)["messages"]

    def change(self, address=NEW, **who):
        """Starts a change of address. Returns its continuation token and its code."""
        token = self.call("account.changeEmail", email=address, **who)["continuationToken"]
        return {"continuationToken": token, "code": [each["code"] for each in self.mails(address) if "code" in each][-1]}

    def outcomes(self, method, many):
        """Sends requests concurrently. Returns their outcomes, sorted."""
        found = []
        for number in [self.sidecar.send(method, params) for params in many]:
            try:
                found.append(self.sidecar.answer(number)["state"])
            except RpcError as error:
                found.append(error.type)
        return sorted(found)

    def names(self):
        return sorted(name for name, in self.rows("SELECT name FROM account_name"))

    def test_concurrent_changes_to_one_address_succeed_for_one_account(self):
        self.call("tenant.update", tenantId="default", codes={"sendsPerAddress": 100})
        for turn in range(4):
            ids = [self.account(f"{turn}-{number}@example.com") for number in range(6)]
            wanted = f"{turn}@example.com"
            pending = [self.change(wanted, accountId=each) for each in ids]
            self.assertEqual(self.outcomes("account.submitCode", pending), ["completed"] + ["userAlreadyExists"] * 5)
            addresses = sorted(self.call("account.get", accountId=each)["username"] for each in ids)
            self.assertEqual(addresses.count(wanted), 1)
            found = self.call("account.find", username=wanted)["accountId"]
            self.assertIn(found, ids)
            for each in ids:
                self.assertEqual(self.call("account.find", username=self.call("account.get", accountId=each)["username"])["accountId"], each)
        self.assertEqual(len(self.names()), 24)

    def test_concurrent_change_and_sign_up_for_one_address_let_one_succeed(self):
        for turn in range(4):
            wanted, account = f"new-{turn}@example.com", self.account(f"old-{turn}@example.com")
            change = self.change(wanted, accountId=account)
            sign_up = self.call("signUp.start", username=wanted)["continuationToken"]
            code = self.mails(wanted)[-1]["code"]
            numbers = [self.sidecar.send("account.submitCode", change),
                       self.sidecar.send("signUp.submitCode", {"continuationToken": sign_up, "code": code})]
            states = []
            for number, next in zip(numbers, ("account.changeEmail", "signIn.start")):
                try:
                    states.append(self.sidecar.answer(number)["state"])
                except RpcError as error:
                    self.assertEqual(error.data["next"], next)
                    states.append(error.type)
            self.assertEqual(sorted(states), ["completed", "userAlreadyExists"])
            kept = wanted if states[0] == "completed" else f"old-{turn}@example.com"
            self.assertEqual(self.call("account.get", accountId=account)["username"], kept)

    def test_sign_ins_during_change_do_not_restore_old_address(self):
        for turn in range(6):
            old, new = f"a{turn}@example.com", f"b{turn}@example.com"
            account = self.account(old)
            change = self.change(new, accountId=account)
            signing = [self.sidecar.send("signIn.withPassword", {"username": old, "password": PASSWORD}) for _ in range(3)]
            changing = self.sidecar.send("account.submitCode", change)
            claiming = self.sidecar.send("account.setClaims", {"accountId": account, "claims": {"turn": turn}})
            self.assertEqual(self.sidecar.answer(changing)["state"], "completed")
            self.sidecar.answer(claiming)
            for number in signing:
                try:
                    self.sidecar.answer(number)
                except RpcError as error:
                    self.assertIn(error.type, ("userNotFound", "invalidPassword"))
            found = self.call("account.get", accountId=account)
            self.assertEqual((found["username"], found["email"], found["claims"]), (new, new, {"turn": turn}))
            self.refused("userNotFound", self.sidecar, "signIn.withPassword", {"username": old, "password": PASSWORD})

    def test_concurrent_identical_requests_send_one_code_and_one_notice(self):
        token = self.sign_in_new()["idToken"]
        self.assertEqual(self.outcomes("account.changeEmail", [{"idToken": token, "email": NEW}] * 6), ["codeRequired"] * 6)
        self.assertEqual(len(self.mails(NEW)), 1)
        pending = self.change(idToken=token)
        self.assertEqual(self.outcomes("account.submitCode", [pending] * 6), ["completed"] * 6)
        self.assertEqual([each["purpose"] for each in self.mails(ALICE)], ["addressChanged"])

    def sign_in_new(self):
        self.account()
        return self.sign_in()

    def test_change_of_address_has_code_limits(self):
        account = self.account()
        pending = self.change(accountId=account)
        left = [self.no("invalidCode", "account.submitCode", **{**pending, "code": "x"}).data["attemptsLeft"] for _ in range(5)]
        self.assertEqual(left, [4, 3, 2, 1, 0])
        self.no("codeExpired", "account.submitCode", **pending)
        token = pending["continuationToken"]
        for _ in range(4):
            self.call("test.clock", advanceSeconds=61)
            token = self.call("account.changeEmail", continuationToken=token)["continuationToken"]
        self.assertEqual(len({each["code"] for each in self.mails(NEW)}), 5)
        error = self.no("tooManyCodes", "account.changeEmail", continuationToken=token)
        self.assertGreater(error.data["retryAfterSeconds"], 0)
        # The limit applies to the address, for every caller and every method.
        self.no("tooManyCodes", "account.changeEmail", accountId=account, email=NEW.upper())
        self.no("tooManyCodes", "signUp.start", username=NEW)
        for _ in range(5):
            self.no("invalidCode", "account.submitCode", continuationToken=token, code="x")
        self.no("accountLocked", "account.submitCode", continuationToken=token, code=[each["code"] for each in self.mails(NEW) if "code" in each][-1])
        self.assertEqual(self.call("account.get", accountId=account)["username"], ALICE)
        self.assertNotIn([each["code"] for each in self.mails(NEW) if "code" in each][-1], str(self.rows("SELECT * FROM flow")))

    def test_public_caller_changes_only_address_of_signed_in_account(self):
        # A testing store does not allow public callers, so this store is not one. It sends no messages, but the access check precedes sending.
        store = self.path("public.db")
        owner = self.spawn(store=store)
        account = owner.call("account.create", {"username": ALICE, "password": PASSWORD})["accountId"]
        public = self.spawn("--caller", "public", store=store)
        error = self.refused("callerNotAllowed", public, "account.changeEmail", {"accountId": account, "email": NEW})
        self.assertIn("accountId", error.message)
        token = public.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["idToken"]
        self.refused("messageNotSent", public, "account.changeEmail", {"idToken": token, "email": NEW})
        access = public.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["accessToken"]
        self.refused("tokenUseMismatch", public, "account.changeEmail", {"idToken": access, "email": NEW})

    def test_change_survives_restart_and_ends_with_account(self):
        account = self.account()
        pending = self.change(accountId=account)
        self.sidecar.process.send_signal(signal.SIGKILL)
        self.sidecar.process.wait()
        self.sidecar = self.spawn(testing=True, store=self.store)
        self.assertEqual(self.call("account.submitCode", **pending)["state"], "completed")
        pending = self.change("third@example.com", accountId=account)
        self.call("account.delete", accountId=account)
        self.no("flowEnded", "account.submitCode", **pending)
        self.assertEqual(self.names(), [])

    def test_change_of_address_does_not_bypass_required_password_change(self):
        account = self.account(mustChangePassword=True)
        done = self.call("account.submitCode", **self.change(accountId=account))
        self.no("passwordChangeRequired", "signIn.withContinuation", continuationToken=done["continuationToken"])

    def test_address_syntax_limits_are_enforced(self):
        account = self.account()
        good = ["a@b.cd", "x" * 64 + "@example.com", "a@" + "b" * 63 + ".example", "!#$%&'*+-/=?^_`{|}~@example.com", "1@1.com"]
        longest = "a" * 64 + "@" + ".".join(["b" * 61] * 3) + ".co"
        self.assertEqual(len(longest), 253)
        good += [longest, longest + "m"]
        for address in good:
            self.assertEqual(self.call("account.changeEmail", accountId=account, email=address)["state"], "codeRequired", address)
            self.assertEqual(self.mails(address)[0]["to"], address)
        bad = ["", "a", "@b.cd", "a@", "a@b", "a@@b.cd", "a@b..cd", ".a@b.cd", "a.@b.cd", "a..b@b.cd", "a@-b.cd", "a@b-.cd", "a@b.123",
               "x" * 65 + "@example.com", "a@" + "b" * 64 + ".cd", longest + "mm", "a b@c.de", "a@b.cd\r\nBcc: x@y.zz", "a@b.cd,x@y.zz",
               "<a@b.cd>", "\"a b\"@c.de", "a@[127.0.0.1]", "ä@b.cd", "a@bücher.example", "a\t@b.cd", "a@b.cd.", "a@b.c_d", "x" * 1024]
        for address in bad:
            with self.subTest(address=address):
                error = self.no("invalidUsername", "account.changeEmail", accountId=account, email=address)
                self.assertTrue(error.data["reason"])
        self.no("invalidParams", "account.changeEmail", accountId=account, email="x" * 1025)
        self.no("invalidParams", "account.changeEmail", accountId=account, email="a\0@b.cd")
