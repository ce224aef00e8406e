"""`mintmark git-credential` and `mintmark configure git`, with the real git and a GitHub of the test."""

import os
import shutil
import subprocess
import unittest
import urllib.parse

from sidecar import clean_environment
from test_tool_credentials import ToolCredentials
from websites import page, Website

BACK = "https://shop.example.com/back"
ASKED = "protocol=https\nhost=github.com\n"


class GitCredentials(ToolCredentials):
    def setUp(self):
        super().setUp()
        self.site = Website()
        self.addCleanup(self.site.close)
        self.forms = []
        self.site.pages["/login/oauth/access_token"] = self.answer
        self.site.pages["/user"] = page({"id": 583231, "login": "octocat", "name": "Octo Cat", "email": "octo@example.com"})
        self.site.pages["/applications/Iv1.test/token"] = self.checked
        self.site.pages["/user/emails"] = page([{"email": "octo@example.com", "verified": True, "primary": True}])

    def checked(self, request):
        request.rfile.read(int(request.headers["Content-Length"]))
        return page({"app": {"client_id": "Iv1.test"}})

    def answer(self, request):
        form = dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode()))
        self.forms.append(form)
        return page({"access_token": f"gho_token{len(self.forms)}", "token_type": "bearer", "scope": "repo", "expires_in": 28800,
                     "refresh_token": f"ghr_refresh{len(self.forms)}", "refresh_token_expires_in": 15811200})

    def link(self):
        """Signs in a user with `mintmark login`, and links GitHub by the flow of an application."""
        self.sign_in()
        token = self.mintmark("token").stdout.decode().strip()   # Another sign-in would cost another hash.
        origin = self.site.origin
        self.sidecar.call("idp.create", {
            "providerId": "github.com", "clientId": "Iv1.test", "clientSecret": "secret", "responseType": "code", "scopes": ["repo"], "endpoint": origin,
            "allowInsecure": True})
        flow = self.sidecar.call("idp.authorize", {"providerId": "github.com", "redirectUri": BACK})
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(flow["authorizationUrl"]).query))["state"]
        self.sidecar.call("account.link", {"idToken": token, "credential": {
            "continuationToken": flow["continuationToken"], "url": f"{BACK}?code=abc&state={state}"}})

    def ask(self, text=ASKED, operation="get", *options):
        return self.mintmark("git-credential", *options, operation, input=text.encode())

    def test_token_of_the_user_is_printed_for_github_only(self):
        self.link()
        done = self.ask()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        found = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
        self.assertEqual((found["username"], found["password"]), ("x-access-token", "gho_token1"))
        self.assertGreater(int(found["password_expiry_utc"]), 0)
        self.assertIn(b"username=octocat\n", self.ask(ASKED + "username=octocat\n").stdout)
        self.assertIn(b"gho_token1", self.ask("capability[]=authtype\n" + ASKED + "path=octo/x.git\nwwwauth[]=Basic realm=\"GitHub\"\n\nignored").stdout)
        for other in ("protocol=http\nhost=github.com\n", "protocol=https\nhost=evil.example\n", "protocol=https\nhost=github.com:8443\n",
                      "protocol=https\nhost=github.com.evil.example\n", "protocol=https\nhost=gist.github.com\n", "host=github.com\n", ""):
            with self.subTest(other):
                done = self.ask(other)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        for operation in ("store", "erase", "capability", "later"):
            done = self.ask(ASKED + "username=x\npassword=y\n", operation)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        for wrong in ("protocol\n", "protocol=https\nhost=github.com\0\n"):
            self.assertEqual((self.ask(wrong).returncode, self.ask(wrong).stdout), (64, b""))

    def test_failures_are_one_line_without_output(self):
        self.failed(self.ask(), 3, "mintmark login")
        self.sign_in()
        self.failed(self.ask(), 1, "github.com")
        # A request for another host does not fail, even without a session.
        self.mintmark("logout")
        self.assertEqual(self.ask("protocol=https\nhost=gitlab.com\n").returncode, 0)

    def test_tokens_of_another_server_are_not_sent_to_github(self):
        self.link()
        self.sidecar.call("idp.update", {"providerId": "github.com", "endpoint": "https://github.example.com", "clientSecret": "secret"})
        self.failed(self.ask(), 1, "github.example.com")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_git_gets_the_token(self):
        self.link()
        done = self.mintmark("configure", "git")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(b'[credential "https://github.com"]\n\thelper =\n\thelper = "!'))

        def git(*arguments, text=""):
            return subprocess.run(
                ["git", *arguments], input=text, capture_output=True, text=True, timeout=60, cwd=self.folder,
                env=clean_environment(self.folder, self.environment({"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"})))

        git("config", "--global", "credential.helper", "!echo username=old; echo password=old; true")
        for write in (False, True, True):
            if write:
                done = self.mintmark("configure", "git", "--write")
                self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
            else:
                with open(self.path(".gitconfig"), "ab") as file:
                    file.write(done.stdout)
            filled = git("credential", "fill", text="url=https://github.com/octo/x.git\n")
            self.assertIn("password=gho_token1\n", filled.stdout, filled.stderr)
            other = git("credential", "fill", text="url=https://gitlab.com/x.git\n")
            self.assertIn("password=old\n", other.stdout, other.stderr)
        self.assertEqual(git("config", "--global", "--get-all", "credential.https://github.com.helper").stdout.count("\n"), 2)
        self.assertEqual(git("credential", "approve", text="url=https://github.com\nusername=a\npassword=b\n").returncode, 0)
        self.assertEqual(git("credential", "reject", text="url=https://github.com\nusername=a\npassword=b\n").returncode, 0)


if __name__ == "__main__":
    unittest.main()
