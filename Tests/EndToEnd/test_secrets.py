"""Secrets do not appear on standard error, in the database or in errors."""

import os

from endtoend import EndToEnd, mint, pool_with_role


class Secrets(EndToEnd):
    def test_logs_errors_and_store_contain_no_secrets(self):
        """The log level is `trace`, and calls succeed and fail."""
        sidecar = self.spawn("--log-level", "trace", store=self.path("store.db"))
        pool, role = pool_with_role(sidecar)
        user = "a-user-identifier-nobody-else-has"
        token = mint(sidecar, pool, user)["token"]
        bought = [sidecar.call("credentials.get", {"token": token})["credentials"],
                  sidecar.call("credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": token})["credentials"]]
        sidecar.call("credentials.verify", {"sessionToken": bought[0]["sessionToken"]})
        sidecar.call("credentials.revoke", {"sessionToken": bought[0]["sessionToken"]})
        for method, params in (
            ("token.verify", {"token": token, "audience": "nobody"}),
            ("token.verify", {"token": token[:-5], "audience": pool}),
            ("token.verify", {"token": token, "audience": pool, "colour": "red"}),
            ("token.verify", {"token": token}),
            ("credentials.get", {"token": token + "x"}),
            ("credentials.verify", {"sessionToken": bought[1]["sessionToken"] + "x"}),
            ("credentials.verify", {"sessionToken": bought[0]["sessionToken"]}),
            ("credentials.verify", {"request": {"method": "GET", "url": "https://a.example/", "headers": {
                "x-amz-security-token": bought[1]["sessionToken"], "authorization": bought[1]["secretAccessKey"]}}}),
            ("token.mintForDeveloper", {"poolId": "wrong", "logins": {"login.shop": user}}),
            ("token.mintForDeveloper", {"poolId": pool, "logins": {"login.other": user}}),
            (f"token.{token}", {"token": token}),
        ):
            error = sidecar.refusal(method, params)
            if not method.endswith(token):
                for secret in (token, user, bought[0]["secretAccessKey"], bought[1]["secretAccessKey"], bought[1]["sessionToken"]):
                    self.assertNotIn(secret, error.message + str(error.data), method)
        sidecar.raw(b'{"jsonrpc": "2.0", "id": 1, "method": "token.verify", "params": {"token": "' + token.encode() + b'",}}')
        self.works(sidecar)
        self.assertEqual(sidecar.finish(), 0)
        said = sidecar.stderr_text()
        for secret in (token, token.rpartition(".")[2], user, *(c[m] for c in bought for m in ("secretAccessKey", "sessionToken"))):
            self.assertNotIn(secret, said)
        for name in os.listdir(self.folder):
            with open(self.path(name), "rb") as file:
                data = file.read()
            for secret in (token.rpartition(".")[2], *(c[m] for c in bought for m in ("secretAccessKey", "sessionToken"))):
                self.assertNotIn(secret.encode(), data, name)

    def test_audit_log_contains_only_ids(self):
        sidecar = self.spawn()
        pool, _ = pool_with_role(sidecar)
        mint(sidecar, pool, "alice@example.com")
        records = sidecar.call("audit.list")["records"]
        self.assertIn("token.mintForDeveloper", [r["method"] for r in records])
        self.assertNotIn("alice", str(records))

    def test_audit_log_contains_traces(self):
        sidecar = self.spawn()
        sidecar.call("pool.create", {"name": "shop"}, trace="order-17")
        self.assertEqual(sidecar.call("audit.list")["records"][0]["trace"], "order-17")

    def test_minting_for_a_known_user_is_not_recorded(self):
        sidecar = self.spawn()
        pool, _ = pool_with_role(sidecar)
        mint(sidecar, pool)
        before = len(sidecar.call("audit.list")["records"])
        mint(sidecar, pool)
        self.assertEqual(len(sidecar.call("audit.list")["records"]), before)
