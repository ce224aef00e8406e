"""The Firebase wire keeps the rules for disabled tenants and for the absolute lifetime of sessions."""

from firebase import PROJECT, FirebaseProject


class AssuranceOfTheWire(FirebaseProject):
    def test_refresh_fails_in_a_disabled_tenant_and_after_the_end_of_the_session(self):
        token = self.client("accounts:signUp", email="ada@example.org", password="kvzgtrwp9")["refreshToken"]
        self.assertEqual(self.refresh(token)[0], 200)
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "disabled": True})
        status, answer = self.refresh(token)
        self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "OPERATION_NOT_ALLOWED"), answer)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithPassword", email="ada@example.org", password="kvzgtrwp9")
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "disabled": False, "tokens": {"sessionSeconds": 3600}})
        self.assertEqual(self.refresh(token)[0], 200)
        self.advance(3601)
        status, answer = self.refresh(token)
        self.assertEqual((status, answer["error"]["message"]), (400, "TOKEN_EXPIRED"))
