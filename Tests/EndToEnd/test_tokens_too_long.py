"""Tokens that exceed the maximum length are not issued."""

from endtoend import EndToEnd, make_pool, mint


class TooLong(EndToEnd):
    def test_principal_tags_that_make_a_token_too_long_fail_and_create_no_identity(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        tags = {f"{n:02}{'k' * 126}": "v" * 256 for n in range(50)}
        error = self.refused("invalidPrincipalTags", sidecar, "token.mintForDeveloper", {
            "poolId": pool, "logins": {"login.shop": "alice"}, "principalTags": tags})
        self.assertIn("20000", str(error))
        self.assertEqual(sidecar.call("identity.list", {"poolId": pool})["identities"], [])
        token = mint(sidecar, pool, principalTags=dict(list(tags.items())[:35]))["token"]
        self.assertGreater(len(token), 15_000)
        sidecar.call("token.verify", {"token": token, "audience": pool})
