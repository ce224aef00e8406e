"""`mintmark kube-credential` and `mintmark configure kubectl`, with the real kubectl and an API server that records the received tokens."""

import json
import os
import shutil
import subprocess
import time
import unittest

import jwt

from endtoend import EndToEnd
from sidecar import ROOT, binary, clean_environment, run
from websites import Authority, Website, page

UNPACKED = os.path.join(ROOT, ".build", "kubernetes-client", "usr", "bin", "kubectl")
KUBECTL = shutil.which("kubectl") or (UNPACKED if os.path.exists(UNPACKED) else None)
PASSWORD = "correct horse 9 Battery"
EXCHANGE = "client.authentication.k8s.io/"


class Kubectl(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.kubeconfig = self.path("kubeconfig")

    def mintmark(self, command, *arguments, version=None, environment=None, input=b""):
        info = version and json.dumps({"kind": "ExecCredential", "apiVersion": EXCHANGE + version, "spec": {"interactive": False}})
        return run(command, "--app", "ops", *arguments, home=self.folder, input=input, environment={
            "KUBERNETES_EXEC_INFO": info, "KUBECONFIG": self.kubeconfig,
            "PATH": os.path.dirname(KUBECTL or "") + ":" + os.environ["PATH"], **(environment or {})})

    def sign_in(self):
        made = self.mintmark("call", "account.create", json.dumps({"username": "alice@example.com", "password": PASSWORD, "emailVerified": True}))
        self.assertEqual(made.returncode, 0, made.stderr)
        done = self.mintmark("login", "--email", "alice@example.com", input=PASSWORD.encode() + b"\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def kubectl(self, *arguments):
        return subprocess.run(
            [KUBECTL, "--kubeconfig", self.kubeconfig, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
            env=clean_environment(self.folder, {"https_proxy": None, "HTTPS_PROXY": None, "NO_PROXY": "*"}))

    def version(self):
        """Returns the newest credential API version that this kubectl supports."""
        return "v1" if "--exec-interactive-mode" in self.kubectl("config", "set-credentials", "--help").stdout else "v1beta1"

    def configure(self):
        """Configures kubectl twice with --write. The kubectl of Debian 12 crashes when it writes a user, so in that case the printed lines are
        inserted into the file."""
        version = self.version()
        if self.kubectl("config", "set-credentials", "somebody", "--token=t").returncode == 0:
            for _ in range(2):
                done = self.mintmark("configure", "kubectl", "--write", "--api-version", version)
                self.assertEqual((done.returncode, done.stdout), (0, b'User "mintmark" set.\n'), done.stderr)
            return
        lines = self.mintmark("configure", "kubectl", "--api-version", version).stdout.decode()
        with open(self.kubeconfig, encoding="utf-8") as file:
            before = file.read()
        self.assertIn("users: null\n", before)
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            file.write(before.replace("users: null\n", lines))

    def test_credential_has_requested_version(self):
        self.sign_in()
        token = self.mintmark("token").stdout.decode().strip()
        for version, answered in (("v1", "v1"), ("v1beta1", "v1beta1"), (None, "v1")):
            done = self.mintmark("kube-credential", version=version)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            expires = jwt.decode(token, options={"verify_signature": False})["exp"]
            self.assertEqual(json.loads(done.stdout), {"apiVersion": EXCHANGE + answered, "kind": "ExecCredential", "status": {
                "token": token, "expirationTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(expires))}})

    def test_invalid_requests_are_rejected(self):
        for version, environment, code, word in (
                ("v1alpha1", {}, 64, b"Set apiVersion to"), (None, {"KUBERNETES_EXEC_INFO": "{}"}, 64, b"no ExecCredential"),
                (None, {"KUBERNETES_EXEC_INFO": "nonsense"}, 64, b"no ExecCredential")):
            done = self.mintmark("kube-credential", version=version, environment=environment)
            self.assertEqual((done.returncode, done.stdout), (code, b""))
            self.assertIn(word, done.stderr)
        self.mintmark("call", "tenant.list")
        done = self.mintmark("kube-credential", version="v1")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"mintmark login --app ops", done.stderr)

    def test_printed_kubeconfig_contains_command_and_options(self):
        done = self.mintmark("configure", "kubectl")
        self.assertEqual(done.stdout.decode(), f"""users:
- name: "mintmark"
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: {json.dumps(os.path.realpath(binary()))}
      args: ["kube-credential","--app","ops"]
      interactiveMode: Never
""")
        other = run("configure", "kubectl", "--store", "shop.db", "--testing", "--user", "me", "--api-version", "v1beta1", home=self.folder,
                    cwd=self.folder).stdout.decode()
        self.assertIn(f'args: ["kube-credential","--store",{json.dumps(self.path("shop.db"))},"--testing"]', other)
        self.assertIn("client.authentication.k8s.io/v1beta1", other)
        for arguments, word in ((["docker"], b"kubectl"), (["kubectl", "--api-version", "v2"], b"v1 or v1beta1")):
            done = self.mintmark("configure", *arguments)
            self.assertEqual(done.returncode, 64)
            self.assertIn(word, done.stderr)
        self.assertIn(b"memory", run("configure", "kubectl", "--store", ":memory:", home=self.folder).stderr)

    def test_missing_kubectl_is_reported(self):
        done = self.mintmark("configure", "kubectl", "--write", environment={"PATH": self.folder})
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"kubectl cannot be started", done.stderr)

    @unittest.skipUnless(KUBECTL, "no kubectl here")
    def test_real_kubectl_sends_token_to_server(self):
        """After sign-out, kubectl fails and names the login command."""
        self.sign_in()
        authority = Authority(self.folder)
        site = Website(authority.context("127.0.0.1"))
        self.addCleanup(site.close)
        shown = []

        def api(request):
            shown.append(request.headers.get("Authorization"))
            return page({"kind": "APIVersions", "versions": ["v1"]})
        site.pages["/api"] = api
        for arguments in (["set-cluster", "here", f"--server={site.origin}", f"--certificate-authority={authority.path}"],
                          ["set-context", "here", "--cluster=here", "--user=mintmark"], ["use-context", "here"]):
            self.assertEqual(self.kubectl("config", *arguments).returncode, 0)
        self.configure()
        done = self.kubectl("get", "--raw", "/api")
        self.assertEqual((done.returncode, json.loads(done.stdout or "{}").get("kind")), (0, "APIVersions"), done.stderr)
        self.assertEqual(shown, ["Bearer " + self.mintmark("token").stdout.decode().strip()])
        self.mintmark("logout")
        done = self.kubectl("get", "--raw", "/api")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("mintmark login --app ops", done.stderr)
