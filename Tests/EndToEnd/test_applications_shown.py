"""Applications and their secrets in the web console and over MCP."""

import json
import subprocess

from endtoend import EndToEnd, only
from sidecar import binary, clean_environment
from test_console import WithConsole
from webconsole import path


@only("sqlite")
class ApplicationsInTheConsole(WithConsole):
    def test_tenant_page_lists_applications_and_their_page_shows_secrets_by_hint(self):
        self.sidecar.call("application.put", {"clientId": "a/b", "name": "<b>Shop</b>", "type": "confidential"})
        self.sidecar.call("application.put", {"clientId": "mobile"})
        made = self.sidecar.call("application.addSecret", {"clientId": "a/b"})
        page = self.console.get(path("tenants", "default"))
        self.assertEqual(page.status, 200)
        self.assertIn("&lt;b&gt;Shop", page.text)
        self.assertNotIn("<b>Shop", page.text)
        self.assertIn("/applications/a%2Fb?tenant=default", page.text)
        page = self.console.get("/applications/a%2Fb?tenant=default")
        self.assertEqual(page.status, 200)
        self.assertIn(made["secretId"], page.text)
        self.assertIn(made["clientSecret"][-4:], page.text)
        self.assertNotIn(made["clientSecret"], page.text)
        # The secret is shown once, and this console masks secrets.
        self.assertIn("--show-secrets", page.words)
        self.assertNotIn("application.addSecret", page.text)
        page = self.console.get("/applications/mobile")
        self.assertIn("A public application has no secrets.", page.words)
        self.assertEqual(self.console.get("/applications/none").status, 404)

    def test_account_page_shows_the_application_of_a_session(self):
        self.sidecar.call("application.put", {"clientId": "mobile"})
        step = self.sidecar.call("signUp.start", {"username": "alice@example.com", "clientId": "mobile"})
        code = self.sidecar.call("test.outbox", {})["messages"][-1]["code"]
        step = self.sidecar.call("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": code})
        session = self.sidecar.call("signIn.withContinuation", {"continuationToken": step["continuationToken"]})
        page = self.console.get(path("accounts", session["account"]["accountId"]))
        self.assertIn("<code>mobile</code>", page.text)


class ApplicationsOverMCP(EndToEnd):
    def talk(self, *options):
        messages = [
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
            {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"},
        ]
        lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages)
        done = subprocess.run([binary(), "mcp", "--store", ":memory:", "--testing", *options], input=lines, capture_output=True, text=True,
                              timeout=60, env=clean_environment(self.folder, {}))
        return {tool["name"] for answer in map(json.loads, done.stdout.splitlines()) if answer.get("id") == 2 for tool in answer["result"]["tools"]}

    def test_tools_of_applications_have_their_levels(self):
        def applications(*options):
            return {name.split("_")[-1].split(".")[-1] for name in self.talk(*options) if name.startswith("application")}
        self.assertEqual(applications("--allow", "all"), {"put", "get", "list", "delete", "addSecret", "deleteSecret"})
        self.assertEqual(applications(), {"list"})
        toolset = ("--tools", "accounts", "--allow")
        self.assertEqual(applications(*toolset, "read"), {"get", "list"})
        self.assertEqual(applications(*toolset, "write"), {"get", "list", "put"})
        self.assertEqual(applications(*toolset, "write,secrets"), {"get", "list", "put", "addSecret"})
        self.assertEqual(applications(*toolset, "destroy"), {"get", "list", "put", "delete", "deleteSecret"})


del EndToEnd, WithConsole
