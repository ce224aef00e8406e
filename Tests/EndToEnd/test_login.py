"""`mintmark login`, `token` and `logout`: commands as a user runs them, a third-party provider, a browser that follows redirects."""

import concurrent.futures
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time

import jwt

import stores
from endtoend import EndToEnd
from oidcmock import OIDCProviderMock
from sidecar import binary, clean_environment, run
from test_device_flow import DeviceProvider
from websites import closed_port

PASSWORD = "correct horse 9 Battery"
ALICE = {"sub": "alice", "email": "alice@example.com", "email_verified": True}
# The user's browser: opens the page, submits the login form and follows the redirects.
BROWSER = """#!{python}
import http.cookiejar, re, sys, urllib.parse, urllib.request
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), urllib.request.ProxyHandler({{}}))
page = browser.open(sys.argv[1]).read().decode()
assert "<form" in page, page
answer = browser.open(sys.argv[1], urllib.parse.urlencode({form}).encode())
print("noise on standard output", flush=True)
print("noise on standard error", file=sys.stderr)
open({log!r}, "a").write(str(answer.status) + " " + answer.read().decode() + "\\nwindow closed\\n")
"""

# A browser whose user refuses the sign-in: it returns to the redirect URI with `access_denied`.
REFUSING = """#!{python}
import sys, urllib.parse, urllib.request
sent = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(sys.argv[1]).query))
back = sent["redirect_uri"] + "?" + urllib.parse.urlencode({{"error": "access_denied", "state": sent["state"]}})
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(back).read()
open({log!r}, "a").write("window closed\\n")
"""


class Login(EndToEnd):
    """Signs in on the command line, with a separate store per test."""

    stores = ("sqlite",)
    options = ("--app", "shop")

    def setUp(self):
        super().setUp()
        self.mock, self.keys = OIDCProviderMock(self, ALICE, {"sub": "bob", "email": "bob@example.com"}), {}

    def mintmark(self, command, *arguments, options=None, environment=None, input=b""):
        return run(command, *(self.options if options is None else options), *arguments, home=self.folder, input=input, environment={
            "BROWSER": self.path("browser"), "DISPLAY": None, "WAYLAND_DISPLAY": None, **(environment or {})})

    def call(self, method, **params):
        done = self.mintmark("call", method, json.dumps(params))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def provide(self, name="oidc.mock", **more):
        self.call("idp.create", **{
            "providerId": name, "clientId": "shop", "clientSecret": "secret", "issuer": self.mock.issuer, "responseType": "code",
            "allowInsecure": True, **more})

    def browser(self, **form):
        with open(self.path("browser"), "w") as file:
            file.write(BROWSER.format(python=sys.executable, form=form or {"sub": "alice"}, log=self.path("pages")))
        os.chmod(self.path("browser"), 0o700)

    def sign_in(self, *arguments, **more):
        done = self.browse(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def browse(self, *arguments, **more):
        """Runs `mintmark login` and waits for the browser, which can close its window after the command ends."""
        windows = self.pages().count("window closed")
        done = self.mintmark("login", *arguments, **more)
        deadline = time.monotonic() + 60
        while self.pages().count("window closed") == windows:
            if time.monotonic() > deadline:
                self.fail(f"the browser did not end: {done.stderr}")
            time.sleep(0.02)
        return done

    def pages(self):
        """Returns the pages that the browser has shown."""
        try:
            with open(self.path("pages")) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def token(self, *arguments, **more):
        """Returns the output of `mintmark token`. PyJWT must accept it as a token of the tenant (see `claims`)."""
        done = self.mintmark("token", *arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"\A[A-Za-z0-9_.-]+\n\Z")
        return done.stdout.decode().strip()

    def claims(self, token):
        kid = jwt.get_unverified_header(token)["kid"]
        if kid not in self.keys:
            self.keys.update({key["kid"]: jwt.PyJWK(key) for key in self.call("token.jwks")["keys"]})
        is_real = "--testing" not in self.options
        issuer = "https://mintmark.localhost/tenants/default" if is_real else "https://testing.mintmark.localhost/tenants/default"
        return jwt.decode(token, self.keys[kid], ["ES256"], audience="default", issuer=issuer, options={"verify_exp": is_real, "verify_iat": is_real})

    def nobody(self, done):
        self.assertEqual((done.returncode, done.stdout), (3, b""), done.stderr)
        self.assertIn(b"mintmark login", done.stderr)

    def sessions(self, account):
        return [each["sessionId"] for each in self.call("session.list", accountId=account)["sessions"]]


class InTheBrowser(Login):
    def test_login_token_and_logout_work_end_to_end(self):
        self.provide()
        self.browser()
        done = self.sign_in()
        self.assertIn(f"{self.mock.issuer}/oauth2/authorize?".encode(), done.stderr)
        self.assertEqual(done.stdout, b"Signed in as alice@example.com. mintmark token --app shop prints a token.\n")
        self.assertNotIn(b"noise", done.stderr)
        self.assertRegex(self.pages(), r"(?s)^200 .*You can close this window")
        claims = self.claims(token := self.token())
        self.assertEqual((claims["email"], claims["mintmark"]["sign_in_provider"]), ("alice@example.com", "oidc.mock"))
        self.assertEqual(self.token(), token)
        access = self.claims(self.token("--access"))
        self.assertEqual((access["sub"], access["scope"]), (claims["sub"], "openid"))
        self.assertIn("accessToken", self.call("account.providerToken", idToken=token, providerId="oidc.mock"))
        self.assertEqual(self.mintmark("logout").stdout, b"Signed out.\n")
        self.nobody(self.mintmark("token"))
        done = self.mintmark("logout")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"No user was signed in.", done.stderr)
        self.assertEqual(self.mintmark("call", "token.verify", json.dumps({"token": token, "tenantId": "default"})).returncode, 1)

    def test_second_login_ends_the_previous_session(self):
        self.provide()
        self.browser()
        self.sign_in()
        first = self.claims(self.token())
        self.sign_in()
        second = self.claims(self.token())
        self.assertEqual(first["sub"], second["sub"])
        self.assertEqual(self.sessions(first["sub"]), [second["sid"]])
        self.browser(sub="bob")
        self.assertIn(b"bob@example.com", self.sign_in().stdout)
        self.assertEqual(self.sessions(first["sub"]), [])

    def test_login_selects_the_provider_or_lists_the_choices(self):
        done = self.mintmark("login")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"mintmark call --app shop idp.create", done.stderr)
        self.assertFalse(os.path.exists(self.path("mintmark")))
        self.call("tenant.list")
        done = self.mintmark("login")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        for words in (b"no identity provider", b"mintmark call --app shop idp.create", b"--email"):
            self.assertIn(words, done.stderr)
        self.provide()
        self.provide("oidc.off", enabled=False)
        self.browser()
        self.sign_in()
        self.provide("oidc.other")
        done = self.mintmark("login")
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertIn(b"--provider oidc.mock, --provider oidc.other", done.stderr)
        self.assertNotIn(b"oidc.off", done.stderr)
        self.sign_in("--provider", "oidc.mock")
        self.sign_in(environment={"MINTMARK_PROVIDER": "oidc.mock"})
        done = self.mintmark("login", "--provider", "oidc.no")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"idpNotFound", done.stderr)

    def test_login_to_another_tenant(self):
        self.call("tenant.create", tenantId="shop")
        self.provide(tenantId="shop")
        self.browser()
        self.sign_in("--tenant", "shop")
        self.assertEqual(jwt.decode(self.token(), options={"verify_signature": False})["aud"], "shop")

    def test_refusal_at_the_provider_fails_with_sign_in_refused(self):
        self.provide()
        with open(self.path("browser"), "w") as file:
            file.write(REFUSING.format(python=sys.executable, log=self.path("pages")))
        os.chmod(self.path("browser"), 0o700)
        done = self.browse()
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"signInRefused", done.stderr)
        self.nobody(self.mintmark("token"))

    def test_login_prints_the_url_if_no_browser_can_be_opened(self):
        self.provide()
        self.browser()
        for arguments, environment, words in (
                (("--no-browser",), {}, b""), ((), {"BROWSER": None}, b"DISPLAY"), ((), {"BROWSER": self.path("nothing")}, b"the program in BROWSER cannot be started")):
            login, url, said = self.begin(*arguments, environment=environment)
            self.assertRegex(url, r"redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A\d+%2F[^%&]{43}&")
            self.assertIn(words, said + self.follow(login, url))

    def test_login_uses_the_given_callback_port_and_path(self):
        self.provide()
        self.browser()
        while True:
            port = closed_port()
            login, url, said = self.begin("--no-browser", "--callback-port", str(port), "--callback-path", "/back")
            if b"listenerUnavailable" not in said:   # another process has taken the port
                break
        self.assertIn(f"redirect_uri=http%3A%2F%2F127.0.0.1%3A{port}%2Fback&", url)
        self.follow(login, url)

    def begin(self, *arguments, environment=None):
        """Runs `mintmark login` until it prints the URL. Returns the process, the URL, and the lines printed before it."""
        environment = clean_environment(self.folder, {"BROWSER": self.path("browser"), "DISPLAY": None, "WAYLAND_DISPLAY": None, **(environment or {})})
        login = subprocess.Popen([binary(), "login", *self.options, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, bufsize=0)
        self.addCleanup(login.wait)
        self.addCleanup(login.kill)
        self.addCleanup(login.stdout.close)
        self.addCleanup(login.stderr.close)
        said = line = login.stderr.readline()
        while line and b"response_type" not in line:
            said += (line := login.stderr.readline())
        return login, line.strip().decode(), said

    def follow(self, login, url):
        """Opens the URL and checks that the login succeeds. Returns the rest of standard error."""
        subprocess.run([self.path("browser"), url], check=True, capture_output=True)
        out, rest = login.communicate(timeout=60)
        self.assertEqual((login.returncode, out[:9]), (0, b"Signed in"), rest)
        return rest

    def test_browser_variable_may_list_commands_with_a_placeholder(self):
        self.provide()
        self.browser()
        self.sign_in(environment={"BROWSER": f"{self.path('nothing')}:{self.path('browser')} %s more"})

    def test_files_contain_no_token_in_plain_text_and_are_private(self):
        self.provide()
        self.browser()
        self.sign_in()
        signature = self.token().split(".")[2].encode()
        for name in os.listdir(self.path("mintmark")):
            with open(self.path("mintmark", name), "rb") as file:
                self.assertNotIn(signature, file.read(), name)
            self.assertEqual(os.stat(self.path("mintmark", name)).st_mode & 0o077, 0, name)

    def test_token_fails_after_the_session_was_ended_by_another_call(self):
        self.provide()
        self.browser()
        self.sign_in()
        account = self.claims(self.token())["sub"]
        self.call("account.update", accountId=account, disabled=True)
        self.assertNotEqual(self.mintmark("token").returncode, 0)
        self.call("account.update", accountId=account, disabled=False)
        self.sign_in()
        self.call("session.revokeAll", accountId=account)
        self.nobody(self.mintmark("token"))
        self.sign_in()
        self.call("account.delete", accountId=account)
        self.nobody(self.mintmark("token"))
        done = self.mintmark("logout")
        self.assertEqual((done.returncode, done.stdout), (3, b""), done.stderr)

    def test_token_without_a_store_reports_no_signed_in_user_and_creates_no_file(self):
        for command in ("token", "kube-credential"):
            for options in (("--app", "never"), ("--store", self.path("no folder", "store.db"))):
                self.nobody(self.mintmark(command, options=options))
        done = self.mintmark("logout", options=("--app", "never"))
        self.assertEqual((done.returncode, done.stdout), (3, b""), done.stderr)
        self.assertIn(b"does not exist", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        done = self.mintmark("token", options=("--store", self.folder))
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_help_and_usage_errors(self):
        for command, words in (("login", (b"--device", b"BROWSER", b"idp.create")), ("token", (b"Exit status 3", b"--access", b"--min-valid")), ("logout", (b"Exit status 3",))):
            done = run(command, "--help")
            self.assertEqual(done.returncode, 0)
            for each in words:
                self.assertIn(each, done.stdout)
        for arguments in (("login", "--email", "a@b.de", "--device"), ("token", "--min-valid", "100000"), ("token", "--acces")):
            self.assertEqual(self.mintmark(*arguments).returncode, 64, arguments)


class Tokens(Login):
    """Runs on a testing store, which has a virtual clock."""

    options = ("--app", "shop", "--testing")

    def setUp(self):
        super().setUp()
        self.provide()
        self.browser()
        self.sign_in()

    def later(self, seconds):
        self.call("test.clock", advanceSeconds=seconds)

    def test_token_is_refreshed_only_shortly_before_it_expires(self):
        first = self.token()
        self.later(3200)
        self.assertEqual(self.token(), first)
        self.later(200)
        second = self.token()
        self.assertNotEqual(second, first)
        self.assertEqual(self.claims(second)["sid"], self.claims(first)["sid"])
        self.assertGreater(self.claims(second)["exp"], self.claims(first)["exp"])
        self.assertEqual(self.token(), second)
        self.later(1)   # `iat` and `exp` have a resolution of one second
        self.assertNotEqual(self.token("--min-valid", "3600"), second)

    def test_min_valid_above_the_token_lifetime_fails_with_a_reason(self):
        for asked, environment in ((("--min-valid", "3601"), {}), ((), {"MINTMARK_MIN_VALID": "86400"})):
            done = self.mintmark("token", *asked, environment=environment)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)
            self.assertIn(b"tokens of this tenant live 3600 s", done.stderr)
        self.token("--min-valid", "3600")
        # The default of 300 seconds does not fail, even if tokens are valid for 300 seconds only.
        self.call("tenant.update", tenantId="default", tokens={"idTokenSeconds": 300, "accessTokenSeconds": 300})
        self.later(3600)
        self.token()

    def test_concurrent_token_commands_keep_the_session(self):
        for _ in range(3):
            self.later(3500)
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                tokens = list(pool.map(lambda _: self.token(), range(12)))
            now = self.call("system.ping")["now"]
            self.assertTrue(all(self.claims(each)["exp"] - now > 3000 for each in set(tokens)))
            self.later(60)   # past the grace period of a used refresh token
        last = self.claims(self.token())
        self.assertEqual(self.sessions(last["sub"]), [last["sid"]])

    def test_killed_token_command_keeps_the_session(self):
        environment = clean_environment(self.folder)
        for step in range(12):
            self.later(3500)
            process = subprocess.Popen([binary(), "token", *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            time.sleep(0.01 + step * 0.008)
            process.kill()
            process.wait()
            self.later(60)
            last = self.claims(self.token())
        self.assertEqual(self.sessions(last["sub"]), [last["sid"]])

    def test_token_fails_after_the_session_expired(self):
        self.later(366 * 86400)
        self.nobody(self.mintmark("token"))
        self.nobody(self.mintmark("token"))
        self.later(-366 * 86400)   # the clock of the mock provider did not change
        self.sign_in()
        self.token()

    def test_token_is_replaced_after_its_key_is_revoked(self):
        first = self.token()
        key = jwt.get_unverified_header(first)["kid"]
        self.call("key.rotate", tenantId="default", activateAfterSeconds=0)
        self.call("key.revoke", kid=key)
        second = self.token()
        self.assertNotEqual(jwt.get_unverified_header(second)["kid"], key)
        self.claims(second)


class WithAnAddress(Login):
    """Signs in with an email address, and a password or a one-time code from standard input."""

    options = ("--app", "shop", "--testing")

    def account(self, **more):
        self.call("account.create", username="carol@example.com", emailVerified=True, **more)

    def code(self, before=0):
        deadline = time.monotonic() + 30
        while True:
            messages = self.call("test.outbox", to="carol@example.com")["messages"]
            if len(messages) > before:
                return messages[-1]["code"]
            if time.monotonic() > deadline:
                self.fail("no message came")
            time.sleep(0.05)

    def test_login_with_a_password(self):
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword")
        self.account(password=PASSWORD)
        done = self.mintmark("login", "--email", "carol@example.com", input=b"wrong\n" + PASSWORD.encode() + b"\n")
        self.assertEqual((done.returncode, done.stdout[:31]), (0, b"Signed in as carol@example.com."), done.stderr)
        self.assertNotIn(PASSWORD.encode(), done.stdout + done.stderr)
        self.assertEqual(self.claims(self.token())["email"], "carol@example.com")
        done = self.mintmark("login", "--email", "carol@example.com", input=b"wrong\n")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(self.claims(self.token())["email"], "carol@example.com")   # the user who was signed in stays signed in

    def test_password_typed_at_a_terminal_is_not_echoed(self):
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword")
        self.account(password=PASSWORD)
        status, seen = self.at_a_terminal(("login", "--email", "carol@example.com"), b"Password of carol@example.com: ", PASSWORD.encode() + b"\n")
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, seen)
        self.assertIn(b"Signed in as carol@example.com", seen)
        self.assertNotIn(PASSWORD.encode(), seen)

    def test_interrupted_password_prompt_restores_the_terminal(self):
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword")
        self.account(password=PASSWORD)
        shell = f"{binary()} login {' '.join(self.options)} --email carol@example.com; stty -a"
        status, seen = self.at_a_terminal(shell, b"Password of carol@example.com: ", b"\x03")
        self.assertRegex(seen, rb" echo ")

    def at_a_terminal(self, command, question, answer):
        """Runs a command at a new terminal and types `answer` when `question` appears. Returns the wait status and the output."""
        words = ["bash", "-c", f"trap : INT; {command}"] if isinstance(command, str) else [binary(), command[0], *self.options, *command[1:]]
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe(words[0], words, clean_environment(self.folder))
        seen, typed = b"", False
        try:
            while select.select([terminal], [], [], 30)[0]:
                seen += os.read(terminal, 4096)
                if question in seen and not typed:
                    os.write(terminal, answer)
                    typed = True
            os.kill(process, signal.SIGKILL)
        except OSError:   # the terminal closes when its process exits
            pass
        finally:
            os.close(terminal)
        return os.waitpid(process, 0)[1], seen

    def test_login_with_an_emailed_code(self):
        self.account()
        environment = clean_environment(self.folder)
        login = subprocess.Popen(
            [binary(), "login", *self.options, "--email", "carol@example.com"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        out, err = login.communicate(self.code().encode() + b"\n", timeout=60)
        self.assertEqual((login.returncode, out[:31]), (0, b"Signed in as carol@example.com."), err)
        self.token()

    def test_login_with_a_second_factor(self):
        self.call("tenant.update", tenantId="default", localAccountMethod="emailPassword", mfa="optional")
        self.account(password=PASSWORD)
        session = self.call("signIn.withPassword", username="carol@example.com", password=PASSWORD)
        enrolment = self.call("mfa.enroll", idToken=session["idToken"], kind="email")
        self.call("mfa.confirm", continuationToken=enrolment["continuationToken"], code=self.code())
        sent = len(self.call("test.outbox", to="carol@example.com")["messages"])
        login = subprocess.Popen(
            [binary(), "login", *self.options, "--email", "carol@example.com"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_environment(self.folder))
        login.stdin.write(PASSWORD.encode() + b"\n")
        login.stdin.flush()
        out, err = login.communicate(self.code(sent).encode() + b"\n", timeout=60)
        self.assertEqual((login.returncode, out[:31]), (0, b"Signed in as carol@example.com."), err)
        self.assertEqual(self.claims(self.token())["mintmark"]["second_factor"]["kind"], "email")

    def test_login_with_an_unknown_address_fails(self):
        self.call("tenant.list")
        done = self.mintmark("login", "--email", "nobody@example.com")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"userNotFound", done.stderr)


class InPostgres(Login):
    """In a shared store, each system user has a separate session."""

    stores = ("postgres",)

    def setUp(self):
        super().setUp()
        store, self.needed = stores.current.place(self.path("shared.db"))
        self.options = ("--store", store)

    def mintmark(self, *arguments, environment=None, **more):
        return super().mintmark(*arguments, environment={**self.needed, **(environment or {})}, **more)

    def test_login_token_and_logout_work_in_a_shared_store(self):
        self.provide()
        self.browser()
        self.sign_in()
        token = self.token()
        self.assertEqual((self.claims(token)["email"], self.token()), ("alice@example.com", token))
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            fresh = set(pool.map(lambda _: self.token("--min-valid", "3600"), range(6)))   # every command refreshes the token
        self.assertEqual({self.claims(each)["sid"] for each in fresh}, {self.claims(token)["sid"]})
        rows = self.rows("SELECT name FROM own_session", store=self.path("shared.db"))
        self.assertEqual(rows, [(f"{os.getuid()}@{socket.gethostname()}",)])
        self.assertEqual(self.mintmark("logout").stdout, b"Signed out.\n")
        self.nobody(self.mintmark("token"))


class OnAnotherDevice(DeviceProvider):
    """Signs in with a device code. The provider's responses come from the test's script."""

    stores = ("sqlite",)

    def test_device_login_completes_after_pending_authorization(self):
        self.script = ["authorization_pending"]
        options = ("--store", self.path("d.db"), "--testing")
        run("call", *options, "idp.create", json.dumps({
            "providerId": "oidc.tv", "clientId": "shop", "clientAuthentication": "none", "issuer": self.site.origin, "keys": [self.provider.jwk]}), home=self.folder)
        done = run("login", *options, "--device", home=self.folder)
        self.assertEqual((done.returncode, done.stdout[:31]), (0, b"Signed in as carol@example.com."), done.stderr)
        for words in (b"WDJB-MJHT", b"https://login.example.com/device"):
            self.assertIn(words, done.stderr)
        self.assertEqual(run("token", *options, home=self.folder).returncode, 0)

