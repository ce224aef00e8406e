"""Guesses of codes in many flows, for many addresses and in several processes. The clock is frozen, so all guesses fall within one period."""

from endtoend import EndToEnd
from sidecar import RpcError

KINDS = {"signUp": "signUp.submitCode", "signIn": "signIn.submitCode", "passwordReset": "passwordReset.submitCode"}
ADDRESSES, GUESSES = 6, 3000


class Guessing(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("guessed.db")
        self.processes = [self.spawn("--clock", "1700000000", testing=True, store=self.store) for _ in range(3)]
        self.first = self.processes[0]
        self.first.call("tenant.update", {"tenantId": "default", "codes": {"length": 6}})
        for number in range(ADDRESSES):
            self.first.call("account.create", {"username": f"code{number}@example.com"})
            self.first.call("account.create", {"username": f"word{number}@example.com", "password": "correct Horse 9"})

    def flows(self):
        """Yields all flows that the limits allow: (kind, address, continuation token)."""
        for number in range(ADDRESSES):
            for kind, name in (("signUp", "new"), ("signIn", "code"), ("passwordReset", "word")):
                address = f"{name}{number}@example.com"
                for process in self.processes:
                    try:
                        # Another spelling is another request, which starts another flow.
                        spelled = address.replace("example", ("example", "Example", "EXAMPLE")[self.processes.index(process)])
                        yield kind, address, process.call(f"{kind}.start", {"username": spelled})["continuationToken"]
                    except RpcError as error:
                        self.assertEqual(error.type, "tooManyCodes")

    def test_guesses_are_limited_across_flows_addresses_and_processes(self):
        flows, sent, outcomes = list(self.flows()), [], {}
        for guess in range(GUESSES):
            kind, address, token = flows[guess % len(flows)]
            process = self.processes[guess // len(flows) % len(self.processes)]
            params = {"continuationToken": token, "code": f"{guess * 331 % 1_000_000:06d}x"}
            sent.append((kind, address, token, process, process.send(KINDS[kind], params)))
        for kind, address, token, process, number in sent:
            try:
                process.answer(number, timeout=60)
                self.fail("a guess went through")
            except RpcError as error:
                outcomes.setdefault((kind, address), []).append((error.type, token, error.data.get("attemptsLeft")))
        self.assertEqual(len(outcomes), 3 * ADDRESSES)
        for key, seen in outcomes.items():
            judged = [each for each in seen if each[0] == "invalidCode"]
            self.assertEqual(len(judged), 10, key)          # Then the account is locked for every flow and process.
            others = {each[0] for each in seen} - {"invalidCode"}
            self.assertIn("accountLocked", others)
            self.assertLessEqual(others, {"accountLocked", "codeExpired"})   # Five of the ten attempts can have used up one code.
            for token in {each[1] for each in judged}:      # A code allows at most five attempts.
                self.assertEqual(len({left for _, of, left in judged if of == token and left}),
                                 len([left for _, of, left in judged if of == token and left]))
        # The correct code is rejected for all addresses in every process.
        codes = {each["to"]: each["code"] for each in self.first.call("test.outbox")["messages"] if each.get("code")}
        for (kind, address), seen in outcomes.items():
            right = [code for to, code in codes.items() if to.lower() == address]
            for process in self.processes:
                for code in right:
                    self.refused({"accountLocked", "codeExpired"}, process, KINDS[kind], {"continuationToken": seen[-1][1], "code": code})
