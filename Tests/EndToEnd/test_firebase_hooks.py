"""Hooks of a tenant decide about users of the Firebase API, with the error of Firebase's blocking functions."""

from firebase_admin import auth

from firebase import PROJECT, FirebaseProject
from hooks import Host
from test_hooks import PIPE, claims

ALICE = {"email": "alice@example.com", "password": "secret sauce 7"}


class FirebaseHooks(FirebaseProject):
    def begin(self, decide):
        host = Host(self.sidecar, decide)
        self.sidecar.call("hooks.set", {"tenantId": PROJECT, "beforeCreate": PIPE, "beforeSignIn": PIPE})
        return host

    def test_new_user_causes_hooks_before_creation_and_before_sign_in(self):
        host = self.begin(lambda hook, params: {"claims": {"by": hook}, **({"sessionClaims": {"desk": 7}} if hook == "beforeSignIn" else {})})
        told = claims(self.client("accounts:signUp", **ALICE)["idToken"])
        self.assertEqual((told["by"], told["desk"]), ("beforeSignIn", 7))
        self.assertEqual([name for name, _ in host.asked], ["beforeCreate", "beforeSignIn"])
        self.assertEqual(host.asked[1][1]["account"]["claims"], {"by": "beforeCreate"})
        self.client("accounts:signInWithPassword", **ALICE)
        self.assertEqual([name for name, _ in host.asked], ["beforeCreate", "beforeSignIn", "beforeSignIn"])

    def test_refusal_and_failure_are_blocking_function_errors(self):
        answers = iter([{"refuse": "only employees"}, 7, {"refuse": "not today"}, {}, {}])
        host = self.begin(lambda hook, params: next(answers))
        status, answer = self.request("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any", ALICE)
        self.assertEqual(status, 400)
        self.assertTrue(answer["error"]["message"].startswith("BLOCKING_FUNCTION_ERROR_RESPONSE : (("))
        self.assertIn("only employees", answer["error"]["message"])
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:signUp", **ALICE)
        auth.create_user(**ALICE, app=self.app)
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:signInWithPassword", **ALICE)
        self.client("accounts:signInWithPassword", **ALICE)
        self.assertEqual([name for name, _ in host.asked], ["beforeCreate", "beforeCreate", "beforeSignIn", "beforeSignIn"], "an administrator is not asked about")

    def test_user_disabled_by_hook_is_stored(self):
        self.begin(lambda hook, params: {"disabled": True})
        self.refused("USER_DISABLED", "accounts:signUp", **ALICE)
        self.assertTrue(auth.get_user_by_email(ALICE["email"], app=self.app).disabled)

    def test_anonymous_users_and_custom_tokens_cause_no_hook(self):
        host = self.begin(lambda hook, params: {"refuse": "nobody"})
        self.client("accounts:signUp")
        self.client("accounts:signInWithCustomToken", token='{"uid": "bob"}')
        self.assertEqual(host.asked, [])
