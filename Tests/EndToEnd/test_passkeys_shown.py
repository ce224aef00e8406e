"""Passkeys in the web console and over MCP."""

import json
import subprocess

from authenticators import SETTINGS, Authenticator
from endtoend import EndToEnd, only
from sidecar import binary, clean_environment
from test_console import WithConsole
from webconsole import path


@only("sqlite")
class PasskeysInTheConsole(WithConsole):
    def test_account_page_lists_passkeys_and_the_graph_shows_them(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "passkeys": SETTINGS})
        session = self.sign_up()
        start = self.sidecar.call("passkey.startRegistration", {"idToken": session["idToken"]})
        done = self.sidecar.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": Authenticator().create(start["options"]), "name": "<b>Laptop</b>"})
        page = self.console.get(path("accounts", session["account"]["accountId"]))
        self.assertEqual(page.status, 200)
        self.assertIn('<h2 id="passkeys">Passkeys</h2>', page.text)
        self.assertIn(done["passkey"]["credentialId"], page.text)
        self.assertIn("&lt;b&gt;Laptop", page.text)
        self.assertNotIn("<b>Laptop", page.text)
        self.assertIn("Passkey", page.words)


class PasskeysOverMCP(EndToEnd):
    def talk(self, *options):
        messages = [
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
            {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"},
        ]
        lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages)
        done = subprocess.run([binary(), "mcp", "--store", ":memory:", "--testing", *options], input=lines, capture_output=True, text=True,
                              timeout=60, env=clean_environment(self.folder, {}))
        return {tool["name"]: tool for answer in map(json.loads, done.stdout.splitlines()) if answer.get("id") == 2
                for tool in answer["result"]["tools"]}

    def test_tools_of_passkeys_have_their_levels(self):
        offered = {name for name in self.talk() if name.startswith("passkey")}
        everything = {name for name in self.talk("--allow", "all") if name.startswith("passkey")}
        self.assertEqual(len(everything), 9, everything)
        self.assertLess(offered, everything)
        self.assertFalse([name for name in offered if "delete" in name or "rename" in name or "Registration" in name], offered)


del EndToEnd, WithConsole
