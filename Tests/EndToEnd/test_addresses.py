"""account.changeEmail and account.submitCode where requests race, codes are guessed, pipes are public, and mailboxes are gone."""

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
        """A change that waits for its code: token and code."""
        token = self.call("account.changeEmail", email=address, **who)["continuationToken"]
        return {"continuationToken": token, "code": [each["code"] for each in self.mails(address) if "code" in each][-1]}

    def outcomes(self, method, many):
        """What requests come to that are sent at once."""
        found = []
        for number in [self.sidecar.send(method, params) for params in many]:
            try:
                found.append(self.sidecar.answer(number)["state"])
            except RpcError as error:
                found.append(error.type)
        return sorted(found)

    def names(self):
        return sorted(name for name, in self.rows("SELECT name FROM account_name"))

    def test_of_accounts_that_change_to_one_address_at_once_one_gets_it_and_the_others_keep_theirs(self):
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

    def test_of_a_change_and_a_sign_up_for_one_address_that_race_one_wins(self):
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

    def test_sign_ins_during_a_change_never_bring_the_old_address_back(self):
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

    def test_the_same_request_many_times_at_once_sends_one_code_and_one_notice(self):
        token = self.sign_in_new()["idToken"]
        self.assertEqual(self.outcomes("account.changeEmail", [{"idToken": token, "email": NEW}] * 6), ["codeRequired"] * 6)
        self.assertEqual(len(self.mails(NEW)), 1)
        pending = self.change(idToken=token)
        self.assertEqual(self.outcomes("account.submitCode", [pending] * 6), ["completed"] * 6)
        self.assertEqual([each["purpose"] for each in self.mails(ALICE)], ["addressChanged"])

    def sign_in_new(self):
        self.account()
        return self.sign_in()

    def test_codes_have_the_limits_of_every_code(self):
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
        # The limit is the address's, whoever asks and however.
        self.no("tooManyCodes", "account.changeEmail", accountId=account, email=NEW.upper())
        self.no("tooManyCodes", "signUp.start", username=NEW)
        for _ in range(5):
            self.no("invalidCode", "account.submitCode", continuationToken=token, code="x")
        self.no("accountLocked", "account.submitCode", continuationToken=token, code=[each["code"] for each in self.mails(NEW) if "code" in each][-1])
        self.assertEqual(self.call("account.get", accountId=account)["username"], ALICE)
        self.assertNotIn([each["code"] for each in self.mails(NEW) if "code" in each][-1], str(self.rows("SELECT * FROM flow")))

    def test_a_public_pipe_changes_ones_own_address_and_nobody_elses(self):
        # What a testing store does not allow is tried on one that is none: nothing is sent, but who may ask is decided before.
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

    def test_a_change_outlives_the_process_and_ends_with_its_account(self):
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

    def test_whoever_must_change_the_password_is_not_let_in_by_a_change_of_address(self):
        account = self.account(mustChangePassword=True)
        done = self.call("account.submitCode", **self.change(accountId=account))
        self.no("passwordChangeRequired", "signIn.withContinuation", continuationToken=done["continuationToken"])

    def test_every_border_of_an_address_is_looked_at(self):
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
