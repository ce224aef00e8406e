"""Blocking functions of a project's configuration, called with the requests of the emulator."""

import unittest

from firebase_admin import auth

from firebase import PROJECT
from firebasefunctions import FunctionsProject
from hooks import Host
from test_hooks import PIPE, claims

CAROL = {"email": "carol@example.com", "password": "secret-1"}


class Functions(FunctionsProject):
    def test_functions_get_the_user_and_change_it(self):
        def answer(event, claims):
            record = {"updateMask": "displayName,photoUrl,emailVerified,customClaims,sessionClaims", "displayName": "Carol", "emailVerified": True,
                      "photoUrl": "https://example.com/c.png", "customClaims": {"by": event}, "sessionClaims": {"desk": 7}}
            return {"userRecord": record}
        url = self.begin(answer)
        made = self.client("accounts:signUp", **CAROL)
        told = claims(made["idToken"])
        self.assertEqual((told["name"], told["picture"], told["email_verified"], told["by"], told["desk"]),
                         ("Carol", "https://example.com/c.png", True, "beforeSignIn", 7))
        self.assertEqual([event for event, _ in self.asked], ["beforeCreate", "beforeSignIn"])
        sent = self.asked[0][1]
        self.assertEqual((sent["iss"], sent["aud"], sent["event_type"], sent["sign_in_method"], sent["sub"]),
                         (f"https://securetoken.google.com/{PROJECT}", f"{url}/beforeCreate", "beforeCreate", "password", made["localId"]))
        self.assertEqual((sent["user_record"]["uid"], sent["user_record"]["email"], sent["user_record"]["metadata"]["creation_time"]),
                         (made["localId"], CAROL["email"], 1_700_000_000_000))
        self.assertEqual(self.asked[1][1]["user_record"]["custom_claims"], {"by": "beforeCreate"})

    def test_mask_decides_what_changes(self):
        self.begin(lambda event, claims: {"userRecord": {"updateMask": "displayName,unknown", "displayName": "Carol", "photoUrl": "https://x"}}, ["beforeSignIn"])
        told = claims(self.client("accounts:signUp", **CAROL)["idToken"])
        self.assertEqual((told["name"], "picture" in told), ("Carol", False))

    def test_answers_that_do_not_allow_the_operation(self):
        answers = iter([403, b"no JSON", {"userRecord": {"displayName": "x"}}, {"userRecord": {"updateMask": "customClaims", "customClaims": {"sub": 1}}}])
        self.begin(lambda event, claims: next(answers), ["beforeCreate"])
        for words in ("status 403", "not valid JSON", "missing updateMask", "claims"):
            status, answer = self.request("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any", CAROL)
            self.assertEqual(status, 400)
            self.assertTrue(answer["error"]["message"].startswith("BLOCKING_FUNCTION_ERROR_RESPONSE : (("), answer)
            self.assertIn(words, answer["error"]["message"])
        self.assertEqual(auth.list_users(app=self.app).users, [])

    def test_user_disabled_by_function_is_stored(self):
        self.begin(lambda event, claims: {"userRecord": {"updateMask": "disabled", "disabled": True}}, ["beforeCreate"])
        self.refused("USER_DISABLED", "accounts:signUp", **CAROL)
        self.assertTrue(auth.get_user_by_email(CAROL["email"], app=self.app).disabled)

    def test_hook_of_the_tenant_takes_precedence(self):
        self.begin(lambda event, claims: {}, ["beforeSignIn"])
        host = Host(self.sidecar)
        self.sidecar.call("hooks.set", {"tenantId": PROJECT, "beforeSignIn": PIPE})
        self.client("accounts:signUp", **CAROL)
        self.assertEqual(([name for name, _ in host.asked], self.asked), (["beforeSignIn"], []))

    def test_unreachable_function_refuses_and_administrators_bypass_it(self):
        self.begin(lambda event, claims: {}, ["beforeCreate"])
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=blockingFunctions", {
            "blockingFunctions": {"triggers": {"beforeCreate": {"functionUri": "http://127.0.0.1:1/"}}}}, method="PATCH")
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:signUp", **CAROL)
        auth.create_user(app=self.app, **CAROL)


if __name__ == "__main__":
    unittest.main()
