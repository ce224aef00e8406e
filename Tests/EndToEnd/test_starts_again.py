"""A start or resend that is repeated within a minute returns the same result, unless the flow has changed since."""

from test_bad_input_people import ALICE, BOB, WRONG, People


class StartsAgain(People):
    def test_start_after_a_wrong_code_begins_a_new_flow_with_a_valid_code(self):
        self.account(BOB, None)
        for kind, address in (("signUp", ALICE), ("signIn", BOB)):
            for wrong in (5, 1):
                with self.subTest(kind=kind, wrong=wrong):
                    self.advance(3600)
                    token = self.start(address, kind)
                    self.assertEqual(self.start(address, kind), token)
                    self.tries(wrong, token, kind)
                    sent = len(self.mails(address))
                    again = self.start(address, kind)
                    self.assertEqual(len(self.mails(address)), sent + 1)
                    self.assertNotEqual(again, token)
                    if wrong == 1:
                        self.assertEqual(self.submit(again, kind=kind, address=address)["state"], "completed")

    def test_repeated_resend_fails_after_its_token_was_used(self):
        first = self.start()
        second = self.call("signUp.resendCode", continuationToken=first)["continuationToken"]
        self.assertEqual(self.call("signUp.resendCode", continuationToken=first)["continuationToken"], second)
        self.no("invalidCode", "signUp.submitCode", continuationToken=second, code=WRONG)
        self.no("continuationTokenInvalid", "signUp.resendCode", continuationToken=first)
        self.assertEqual(self.submit(second)["state"], "completed")

    def test_start_from_another_client_begins_a_separate_flow(self):
        here, there = {"client": {"address": "192.0.2.7"}}, {"client": {"address": "192.0.2.8"}}
        self.account(BOB)
        for kind, address in (("signUp", ALICE), ("signIn", BOB), ("passwordReset", BOB)):
            tokens = [self.start(address, kind, **client) for client in (here, here, there, {})]
            self.assertEqual([tokens.index(each) for each in tokens], [0, 0, 2, 3], kind)
