"""Shared by the tests of applications and of flows that an application drives: sign-up, sign-in and reset in the application's own pages."""

from endtoend import EndToEnd
from test_logins import claims_of

PASSWORD = "correct horse 9 Battery"
ALICE = "alice@example.com"


class NativeFlows(EndToEnd):
    # Whether the process is started again before each call.
    restarting = False

    def setUp(self):
        super().setUp()
        self.store = self.path("flows.db")
        self.sidecar = self.spawn(store=self.store, testing=True)

    def restart(self):
        self.sidecar.finish()
        self.sidecar = self.spawn(store=self.store, testing=True)

    def call(self, method, **params):
        if self.restarting:
            self.restart()
        return self.sidecar.call(method, params)

    def fails(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)

    def sent(self, address=ALICE):
        """Returns the codes that were sent to an address, oldest first."""
        return [each["code"] for each in self.sidecar.call("test.outbox", {"to": address})["messages"] if "code" in each]

    def code(self, address=ALICE):
        return self.sent(address)[-1]

    def account(self, username=ALICE, **more):
        return self.call("account.create", username=username, emailVerified=True, **more)["accountId"]

    def sign_up(self, username=ALICE, **start):
        """Completes a sign-up. Returns its last step."""
        step = self.call("signUp.start", username=username, **start)
        return self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=self.code(username))

    def signed_up(self, username=ALICE, **start):
        """Completes a sign-up and signs in. Returns the result with the tokens."""
        return self.call("signIn.withContinuation", continuationToken=self.sign_up(username, **start)["continuationToken"])

    def claims(self, token):
        return claims_of(token)
