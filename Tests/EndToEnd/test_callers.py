"""--caller public: the pipe is available to a less trusted program."""

from endtoend import EndToEnd, mint, pool_with_role
from examples import methods
from sidecar import run


class PublicCallers(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        trusted = self.spawn(store=self.store)
        self.pool, self.role = pool_with_role(trusted)
        self.token = mint(trusted, self.pool)["token"]
        self.sidecar = self.spawn("--caller", "public", store=self.store)

    def test_developer_methods_are_rejected(self):
        """The error is the same for valid and invalid parameters, so it reveals nothing."""
        for method in methods():
            if method["caller"] == "developer" and not method.get("testing"):
                for params in ({}, {"noSuchParameter": 1}, {"poolId": self.pool, "logins": {"login.shop": "alice"}}):
                    with self.subTest(f"{method['name']} {params}"):
                        error = self.refused("callerNotAllowed", self.sidecar, method["name"], params)
                        self.assertEqual((error.code, error.data["method"]), (1004, method["name"]))

    def test_sign_out_by_session_id_is_for_developers(self):
        self.refused("callerNotAllowed", self.sidecar, "session.signOut", {"sessionId": "any"})
        self.assertEqual(self.spawn().call("session.signOut", {"sessionId": "any"}), {"signedOut": False})

    def test_public_methods_succeed(self):
        self.sidecar.call("token.verify", {"token": self.token, "audience": self.pool})
        self.sidecar.call("token.jwks")
        self.assertIn("credentials", self.sidecar.call("credentials.get", {"token": self.token}))
        self.sidecar.call("credentials.assumeRole", {"roleArn": self.role, "sessionName": "me", "token": self.token})

    def test_only_public_methods_are_described(self):
        document = self.sidecar.call("rpc.discover")
        self.assertEqual(document["x-notifications"], [])
        offered = {method["name"] for method in document["methods"]}
        self.assertEqual(offered, {method["name"] for method in methods() if method["caller"] == "public"})

    def test_misspelled_method_does_not_suggest_developer_methods(self):
        nearest = self.sidecar.refusal("token.mintForDevelope").data["nearest"]
        self.assertNotIn("token.mintForDeveloper", nearest)

    def test_public_caller_excludes_testing(self):

        done = run("serve", "--store", ":memory:", "--testing", "--caller", "public", input=b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"public", done.stderr)
