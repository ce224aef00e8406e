"""`account.graph` with a format: read back by independent programs where they exist."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

from endtoend import make_pool
from federation import Federation


class Formats(Federation):
    def setUp(self):
        super().setUp()
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        pool = make_pool(self.sidecar, providers=[{"tenantId": "default"}])
        self.account_id = self.password_account("a@example.com")
        for _ in range(2):
            self.token = self.password_session("a@example.com")
        name = pool["providers"][0]["name"]
        self.sidecar.call("identity.resolve", {"poolId": pool["poolId"], "logins": {name: self.token}})

    def graph(self, format):
        return self.sidecar.call("account.graph", {"idToken": self.token, "format": format})

    def labels(self, graph):
        return len(graph["nodes"]), [(each["from"], each["to"], each["kind"]) for each in graph["edges"]]

    def test_tree_has_every_node_once_and_every_edge(self):
        graph = self.graph("tree")
        count, edges = self.labels(graph)
        lines = graph["text"].splitlines()
        self.assertEqual(len(lines), count)
        self.assertEqual(sum(len(re.findall(r"(?:leadsTo|secures|isSignedInTo|began|mergedInto) [←→]", line)) for line in lines), len(edges))
        self.assertTrue(lines[0].startswith("account "))
        self.assertRegex(graph["text"], r"├─ leadsTo ← password a@example.com\n")
        self.assertRegex(graph["text"], r"isSignedInTo ← session \S+ \(began ← password a@example.com\)\n")
        self.assertRegex(graph["text"], r"└─ leadsTo → identity \S+ in pool \S+\n")

    def test_mermaid_has_every_node_once_and_every_edge(self):
        graph = self.graph("mermaid")
        count, edges = self.labels(graph)
        first, *lines = graph["text"].splitlines()
        self.assertEqual(first, "flowchart LR")
        self.assertEqual([line.split("[")[0].strip() for line in lines[:count]], [f"n{each}" for each in range(count)])
        self.assertEqual(lines[count:], [f"    n{one} -- {kind} --> n{other}" for one, other, kind in edges])

    def test_dot_is_accepted_by_graphviz(self):
        graph = self.graph("dot")
        count, edges = self.labels(graph)
        self.assertEqual(len(re.findall(r"^    n\d+ \[label=", graph["text"], re.M)), count)
        self.assertEqual(re.findall(r"n(\d+) -> n(\d+) \[label=\"(\w+)\"\];", graph["text"]), [(str(a), str(b), c) for a, b, c in edges])
        if shutil.which("dot"):
            done = subprocess.run(["dot", "-Tjson"], input=graph["text"], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(json.loads(done.stdout)["objects"]), count)

    def test_svg_has_every_node_and_edge_with_title(self):
        graph = self.graph("svg")
        count, edges = self.labels(graph)
        root = xml.etree.ElementTree.fromstring(graph["text"])
        parts = {each.get("data-node"): each for each in root.iter() if each.get("data-node")}
        self.assertEqual(set(parts), {str(each) for each in range(count)})
        self.assertTrue(all(each[0].tag.endswith("title") and each[0].text for each in parts.values()))
        self.assertEqual(
            [(each.get("data-edge"), each[0].text) for each in root.iter() if each.get("data-edge")], [(f"{a}-{b}", kind) for a, b, kind in edges])
        self.assertNotIn("href", graph["text"])

    def test_unknown_format_is_violation(self):
        self.assertIn(("/format", "enum"), self.violations(self.sidecar, "account.graph", {"idToken": self.token, "format": "png"}))
        self.assertNotIn("text", self.sidecar.call("account.graph", {"idToken": self.token}))

    def test_labels_are_escaped(self):
        """The subject of a custom token can be any text."""
        nasty = 'a"b<c>\\d&e;`f#'
        account = self.sidecar.call("account.import", {"accounts": [{"providers": [{"providerId": "oidc.work", "subject": nasty}]}]})
        self.assertEqual(account["imported"], 1, account)
        found = [
            each for each in self.sidecar.call("account.list")["accounts"]
            if any(one.get("subject") == nasty for one in self.sidecar.call("account.get", {"accountId": each["accountId"]}).get("providers", []))]
        ask = lambda format: self.sidecar.call("account.graph", {"accountId": found[0]["accountId"], "format": format})["text"]
        self.assertIn("oidc.work a#34;b#60;c#62;#92;d#38;e#59;#96;f#35;", ask("mermaid"))
        self.assertIn(r'oidc.work a\"b&lt;c&gt;\\d&amp;e;`f#', ask("dot"))
        titles = [each.text for each in xml.etree.ElementTree.fromstring(ask("svg")).iter() if each.tag.endswith("title")]
        self.assertIn(f"oidc.work {nasty}", titles)
        self.assertIn(f"oidc.work {nasty}", ask("tree"))
