"""Passkeys in Chromium with virtual authenticators: every kind of authenticator, and the example page with the server of each language."""

import contextlib
import os
import shutil
import subprocess
import sys
import unittest

from browser import Browser
from endtoend import EndToEnd, only
from sidecar import binary

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CLIENTS = os.path.join(ROOT, "clients")
PAGE = os.path.join(CLIENTS, "passkeys", "page.html")


def python_example():
    return [sys.executable, "-B", os.path.join(CLIENTS, "python", "examples", "passkeys.py"), PAGE]


@only("sqlite")
class PasskeysInTheBrowser(EndToEnd):
    stores = ("sqlite",)

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(cls.addClassCleanup)
        cls.browser.order("Emulation.setScriptExecutionDisabled", value=False)
        cls.browser.order("WebAuthn.enable", enableUI=False)

    @contextlib.contextmanager
    def device(self, **options):
        name = self.authenticator(**options)
        try:
            yield name
        finally:
            self.remove_authenticators()

    def remove_authenticators(self):
        while self.authenticators:
            self.browser.order("WebAuthn.removeVirtualAuthenticator", authenticatorId=self.authenticators.pop())

    def setUp(self):
        super().setUp()
        self.authenticators = []
        self.addCleanup(self.remove_authenticators)

    def authenticator(self, **options):
        given = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True,
                 "automaticPresenceSimulation": True, **options}
        name = self.browser.order("WebAuthn.addVirtualAuthenticator", options=given)["authenticatorId"]
        self.authenticators.append(name)
        return name

    def credentials(self, authenticator):
        return self.browser.order("WebAuthn.getCredentials", authenticatorId=authenticator)["credentials"]

    def serve(self, command, **more):
        environment = {**os.environ, "MINTMARK_BINARY": str(binary()), "PYTHONPATH": os.path.join(CLIENTS, "python", "src"), **more}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=self.folder, start_new_session=True)
        self.addCleanup(self.end, server)
        origin = server.stdout.readline().strip()
        self.assertTrue(origin.startswith("http://localhost:"), origin)
        self.browser.open(origin)
        self.browser.wait("document.querySelector('#sign-in')")

    def end(self, server):
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, 9)
            server.wait()
        server.stdout.close()

    def press(self, button, expected="Signed in as alice@example.com."):
        self.browser.run("document.querySelector('#out').textContent = 'Working …'")
        self.browser.click("#" + button)
        self.browser.wait("document.querySelector('#out').textContent != 'Working …'")
        text = self.browser.run("document.querySelector('#out').textContent")
        self.assertTrue(text.startswith(expected), text)
        return text

    def test_every_kind_of_authenticator_signs_up_and_in(self):
        for transport in ("internal", "usb"):
            for resident in (True, False):
                for verifies in (True, False):
                    kind = {"transport": transport, "hasResidentKey": resident, "hasUserVerification": verifies, "isUserVerified": verifies}
                    with self.subTest(**kind), self.device(**kind) as device:
                        if resident and not verifies and transport == "usb":
                            self.signs_in_with_a_moved_passkey(kind)
                        else:
                            self.signs_up_and_in(device, resident, verifies)

    def built_with_swift(self):
        """Returns the path of the example: the build of `Tests/run`, or one that is made now."""
        made = os.environ.get("MINTMARK_TEST_BUILD")
        if not made:
            subprocess.run(["swift", "build", "--product", "SwiftPasskeys"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return os.path.join(made or os.path.join(ROOT, ".build"), "debug", "SwiftPasskeys")

    def built_with_java(self):
        """Returns the command of the example, with the present client. Its build is made once for all tests."""
        java = os.path.join(CLIENTS, "java")
        made = subprocess.run([os.path.join(java, "build")], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        return ["java", "-cp", os.path.join(made, "mintmark.jar"), os.path.join(java, "examples", "Passkeys.java")]

    def signs_in_with_a_moved_passkey(self, kind):
        """Chromium refuses to make a passkey on a key that stores passkeys and does not verify the user. Such a key can have one nevertheless."""
        self.serve(python_example())
        self.press("sign-up", "Failed: NotAllowedError")
        self.remove_authenticators()
        with self.device(transport=kind["transport"]) as other:
            self.press("sign-up")
            moved, = self.credentials(other)
        again = self.authenticator(**kind)
        self.browser.order("WebAuthn.addCredential", authenticatorId=again, credential=moved)
        self.assertIn("amr: hwk user\n", self.press("sign-in-as"))

    def signs_up_and_in(self, device, resident, verifies):
        self.serve(python_example())
        self.press("sign-up")
        self.assertEqual([each["isResidentCredential"] for each in self.credentials(device)], [resident])
        expected = "amr: hwk user mfa" if verifies else "amr: hwk user\n"
        self.assertIn(expected, self.press("sign-in-as"))
        # Chromium protects a passkey that is stored without verification of the user: it is not offered without the address.
        if resident and verifies:
            self.assertIn(expected, self.press("sign-in"))
        counter = self.credentials(device)[0]["signCount"]
        self.press("confirm")
        self.assertGreater(self.credentials(device)[0]["signCount"], counter)

    def test_synchronized_passkey_is_software(self):
        self.serve(python_example())
        self.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
        self.press("sign-up")
        self.assertIn("amr: swk user mfa", self.press("sign-in"))

    def test_old_security_key_signs_in_by_address(self):
        self.serve(python_example())
        self.authenticator(protocol="u2f", transport="usb", hasResidentKey=False, hasUserVerification=False, isUserVerified=False)
        self.press("sign-up")
        self.assertIn("amr: hwk user\n", self.press("sign-in-as"))

    def test_second_authenticator_is_added_and_the_first_deleted(self):
        self.serve(python_example())
        first = self.authenticator()
        self.press("sign-up")
        # The browser refuses a second passkey of one authenticator, because of excludeCredentials.
        self.press("add", "Failed: InvalidStateError")
        self.press("sign-in")
        self.browser.order("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=first, enabled=False)
        second = self.authenticator(transport="usb")
        self.assertIn("Passkeys: Passkey 1, Passkey 2", self.press("add"))
        self.browser.order("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=first, enabled=True)
        self.assertEqual(len(self.credentials(second)), 1)

    def test_cloned_passkey_is_refused(self):
        self.serve(python_example())
        device = self.authenticator()
        self.press("sign-up")
        clone, = self.credentials(device)
        for _ in range(3):
            self.press("sign-in")
        self.browser.order("WebAuthn.clearCredentials", authenticatorId=device)
        self.browser.order("WebAuthn.addCredential", authenticatorId=device, credential=clone)
        self.press("sign-in", "Failed: counterRegressed")

    def test_passkey_of_another_server_is_unknown(self):
        self.serve(python_example())
        self.authenticator()
        self.press("sign-up")
        # The autofill of the page offers the passkey. The authenticator forgets it then, so a button would not find it.
        self.serve(python_example())
        self.browser.wait("document.querySelector('#out').textContent.startsWith('Failed: credentialUnknown')")
        self.browser.run("document.querySelector('#out').textContent = ''")
        self.press("sign-in", "Failed: NotAllowedError")

    def test_autofill_signs_in_without_a_button(self):
        self.serve(python_example())
        self.authenticator()
        self.press("sign-up")
        origin = self.browser.run("location.origin")
        self.browser.open(origin)
        self.browser.wait("document.querySelector('#out').textContent.startsWith('Signed in as alice@example.com.')")

    def test_example_of_each_language_signs_up_in_and_out(self):
        for language, command in EXAMPLES.items():
            with self.subTest(language):
                if not shutil.which(command[0]):
                    raise unittest.SkipTest(f"{command[0]} is not installed")
                if language == "go":
                    subprocess.run(["go", "build", "-o", self.folder, "./examples/passkeys"], cwd=os.path.join(CLIENTS, "go"), check=True)
                    command = [os.path.join(self.folder, "passkeys")]
                if language == "java":
                    command = self.built_with_java()
                if language == "swift":
                    command = [self.built_with_swift()]
                self.serve([*command, PAGE])
                with self.device() as device:
                    self.press("sign-up")
                    self.press("sign-in")
                    self.press("confirm")
                    # The account has an address, to which a code can be sent, but the passkey is the last way to sign in.
                    self.press("remove", "Failed: lastProvider")
                    self.browser.order("WebAuthn.clearCredentials", authenticatorId=device)
                    self.press("sign-in", "Failed: NotAllowedError")


EXAMPLES = {
    "python": [sys.executable, "-B", os.path.join(CLIENTS, "python", "examples", "passkeys.py")],
    "node": ["node", os.path.join(CLIENTS, "node", "examples", "passkeys.js")],
    "ruby": ["ruby", "-I", os.path.join(CLIENTS, "ruby", "lib"), os.path.join(CLIENTS, "ruby", "examples", "passkeys.rb")],
    "go": ["go"],
    "java": ["javac"],
    "swift": ["swift"],
    "bash": ["bash", os.path.join(CLIENTS, "shell", "examples", "passkeys.bash")],
}
