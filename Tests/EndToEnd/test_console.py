"""The web console over HTTP: who may use it, and what each page shows."""

import json
import os
import re
import signal
import socket
import time

from endtoend import EndToEnd, only, pool_with_role
from webconsole import Console, Elements, path

PASSWORD = "correct horse 9 Battery"
NASTY = '<img src=x onerror="alert(1)">'
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'")


def until(found, seconds=60):
    """Waits until `found` returns a value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = found()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("nothing came")


class WithConsole(EndToEnd):
    options = ("--write",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--console", *self.options, testing=True)
        self.console = self.console_of(self.sidecar)
        self.console.enter()

    def console_of(self, sidecar):
        return Console(until(lambda: re.search(r"^http://\S+", sidecar.stderr_text(), re.M))[0])

    def sign_up(self, address="alice@example.com", tenant="default"):
        started = self.sidecar.call("signUp.start", {"tenantId": tenant, "username": address, "password": PASSWORD})
        code = self.sidecar.call("test.outbox", {"to": address})["messages"][-1]["code"]
        done = self.sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": code})
        return self.sidecar.call("signIn.withContinuation", {"continuationToken": done["continuationToken"]})


@only("sqlite")
class WhoMayUseTheConsole(WithConsole):
    options = ()

    def protected(self, answer, status):
        self.assertEqual(answer.status, status, answer.text)
        for name, value in {
                "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
                "cross-origin-resource-policy": "same-origin", "cache-control": "no-store"}.items():
            self.assertEqual(answer.headers.get(name), value, name)

    def locked(self, answer):
        self.protected(answer, 403)
        self.assertIn("new URL", answer.words)
        for word in ("tenant", "accounts", "account.", "token.mint"):
            self.assertNotIn(word, answer.text)

    def test_token_works_once_and_becomes_a_strict_cookie(self):
        first = self.console_of(self.sidecar)
        self.locked(first.send("GET", f"/?{first.url.query}"))   # used by setUp
        self.sidecar.signal(signal.SIGUSR1)
        urls = until(lambda: (found := re.findall(r"^http://\S+", self.sidecar.stderr_text(), re.M)) and len(found) == 2 and found)
        second = Console(urls[1])
        answer = second.send("GET", f"/accounts?q=a&{second.url.query}")
        self.protected(answer, 303)
        self.assertEqual(answer.headers["location"], "/accounts?q=a")
        self.assertRegex(answer.headers["set-cookie"], r"^\S+=[\w-]{22}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$")
        self.assertRegex(second.url.query, r"^token=[\w-]{22}$")
        self.assertEqual(second.url.hostname, "127.0.0.1")

    def test_without_session_no_page_shows_anything(self):
        stranger = Console(self.console.url.geturl())
        for place in ("/", "/accounts", "/methods", "/nothing", "/requests/events", "/?token=wrong", "/import", "/console.js"):
            self.locked(stranger.get(place))
        stranger.cookie = self.console.cookie[:-1] + "_"
        self.locked(stranger.get("/"))
        self.locked(stranger.send("POST", "/import", b"x"))
        self.wait_for_log(self.sidecar, "the console rejected a request")

    def test_foreign_host_is_misdirected_before_anything_else(self):
        port = self.console.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}"):
            self.protected(self.console.get("/", Host=host), 421)
        self.protected(self.console.send("POST", "/methods/system.ping", b"x" * 2_000_000, {"Host": "evil.example"}), 421)
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
            self.protected(self.console.get("/", Host=host), 200)

    def test_forms_of_other_sites_are_rejected(self):
        port, form = self.console.port, {}
        for headers in (
                {"Origin": "https://evil.example"}, {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Origin": "null"},
                {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}):
            self.protected(self.console.post("/methods/system.ping", form, headers), 403)
        self.wait_for_log(self.sidecar, "a form of another site")
        for headers in ({"Origin": f"http://localhost:{port}"}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}, {}):
            self.protected(self.console.post("/methods/system.ping", form, headers), 200)

    def test_form_without_its_token_is_rejected(self):
        self.protected(self.console.post("/methods/system.ping", {}, token="wrong"), 403)
        self.protected(self.console.send("POST", "/methods/system.ping", b""), 403)

    def test_read_only_console_calls_no_method_that_writes(self):
        answer = self.console.call("tenant.create", tenantId="shop")
        self.protected(answer, 403)
        self.assertIn("--write", answer.words)
        self.protected(self.console.post("/keys", {}), 403)
        self.protected(self.console.post("/accounts/any", {"sessionId": "any"}), 403)
        self.protected(self.console.send("POST", "/import", b"", {"Content-Type": "multipart/form-data; boundary=x"}), 403)
        self.assertEqual([t["tenantId"] for t in self.sidecar.call("tenant.list")["tenants"]], ["default"])
        self.assertEqual(self.console.call("tenant.list").status, 200)

    def test_long_bodies_and_headers_are_rejected(self):
        self.protected(self.console.send("POST", "/methods/system.ping", b"x" * (2 << 20)), 413)
        self.protected(self.console.get("/", **{"X-Long": "x" * 17_000}), 431)
        self.protected(self.console.get("/" + "x" * 17_000), 431)

    def test_unknown_pages_and_objects_are_not_found(self):
        for place in (
                "/nothing", "/accounts/unknown", "/tenants/unknown", "/pools/unknown", "/identities/unknown", "/methods/no.method", "/requests/99",
                "/outbox/99", "/outbox/1/html", "/import/1", "/accounts/a/b", path("accounts", "../../etc")):
            answer = self.console.get(place)
            self.protected(answer, 404)
            self.assertIn("<nav", answer.text)
        self.assertEqual(self.console.send("PUT", "/").status, 405)

    def test_values_are_escaped(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop", "name": NASTY})
        for place in ("/tenants", "/tenants/shop", f"/accounts?q={NASTY}", f"/methods/tenant.get?tenantId={NASTY}", "/" + NASTY, f"/audit?method={NASTY}"):
            answer = self.console.get(place.replace(" ", "%20").replace('"', "%22"))
            self.assertNotIn("<img", answer.text, place)
        self.assertIn("&lt;img src=x onerror=", self.console.get("/tenants/shop").text)

    def test_pages_have_no_inline_script_and_no_external_resource(self):
        for place in ("/", "/accounts", "/methods", "/methods/account.import", "/import", "/keys", "/audit", "/requests", "/metrics", "/outbox", "/roles"):
            page = self.console.get(place)
            self.protected(page, 200)
            for tag, attributes in Elements(page.text).found:
                self.assertFalse([name for name in attributes if name.startswith("on") or name == "style"], place)
                for name in ("src", "href", "action"):
                    self.assertRegex(attributes.get(name) or "/", r"^(/(?!/)|#|data:,$)")
            self.assertNotRegex(page.text, r"<script(?![^>]*src=)|<style")


class Pages(WithConsole):
    stores = ("sqlite",)

    def test_account_has_graph_sessions_and_end_button(self):
        signed = self.sign_up()
        account = signed["account"]["accountId"]
        graph = self.sidecar.call("account.graph", {"accountId": account})
        page = self.console.get(f"/accounts/{account}")
        elements = Elements(page.text)
        self.assertEqual(len(elements.with_attribute("data-graph")), 1)
        self.assertEqual([each["data-node"] for each in elements.with_attribute("data-node")], [str(n) for n in range(len(graph["nodes"]))])
        self.assertEqual(
            [each["data-edge"] for each in elements.with_attribute("data-edge")], [f"{edge['from']}-{edge['to']}" for edge in graph["edges"]])
        session = self.sidecar.call("session.list", {"accountId": account})["sessions"][0]["sessionId"]
        self.assertIn(session, page.text)
        self.assertIn(session, self.console.get("/sessions?q=alice@example.com").text)
        ended = self.console.post(f"/accounts/{account}", {"sessionId": session})
        self.assertEqual((ended.status, ended.headers["location"]), (303, f"/accounts/{account}#sessions"))
        self.assertEqual(self.sidecar.call("session.list", {"accountId": account})["sessions"], [])
        record = self.sidecar.call("audit.list", {})["records"][0]
        self.assertEqual((record["method"], record["actor"], record["details"]["sessionId"]), ("session.signOut", "console", session))
        self.assertTrue(self.sidecar.call("audit.verify", {})["intact"])
        self.assertNotIn("actor", self.sidecar.call("audit.list", {})["records"][-1])

    def test_accounts_are_found_by_address_and_paged(self):
        self.sidecar.call("account.import", {"accounts": [{"email": f"user{n}@example.com", "method": "code"} for n in range(70)]})
        page = self.console.get("/accounts")
        after = re.search(r'rel="next" href="([^"]+)"', page.text)[1].replace("&amp;", "&")
        self.assertEqual([each.text.count("<tr><td") for each in (page, self.console.get(after))], [60, 10])
        found = self.console.get("/accounts?q=user7@example.com")
        self.assertEqual(found.text.count("<tr><td"), 1)
        self.assertIn("user7@example.com", found.text)
        self.assertIn("No account", self.console.get("/accounts?q=nobody@example.com").words)
        self.assertEqual(self.console.get("/accounts?cursor=wrong").status, 400)

    def test_overview_counts_rows_and_shows_warnings(self):
        self.sign_up()
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        until(lambda: "tenant shop has no name" in self.console.get("/").words)
        until(lambda: re.search(r"\b1\s+Accounts", self.console.get("/").words))

    def test_method_form_follows_schema_and_calls_method(self):
        form = Elements(self.console.get("/methods/tenant.create").text)
        names = {attributes.get("name"): (tag, attributes) for tag, attributes in form.found if tag in ("input", "select", "textarea")}
        self.assertEqual(names["localAccountMethod"][0], "select")
        self.assertEqual(names["signUpAllowed"][1]["type"], "checkbox")
        self.assertIn("passwordPolicy[minimumLength]", names)
        secret = Elements(self.console.get("/methods/signUp.start").text)
        self.assertEqual([a["type"] for a in secret.with_attribute("name") if a["name"] == "password"], ["password"])
        answer = self.console.call("tenant.create", **{"tenantId": "shop", "name": "Shop", "passwordPolicy[minimumLength]": "12", "audiences[]": "api"})
        self.assertEqual(answer.status, 200)
        tenant = json.loads(answer.result)
        self.assertEqual((tenant["passwordPolicy"]["minimumLength"], tenant["audiences"]), (12, ["api"]))
        self.assertIn("mintmark call tenant.create", answer.words)
        for language in ("Python", "Node", "Go", "Java", "Ruby", "bash", "Swift", "JSON line"):
            self.assertIn(f"<h3>{language}</h3>", answer.text)

    def test_maps_are_filled_by_path_or_by_pairs(self):
        pool, _ = pool_with_role(self.sidecar)
        for fields in ({"logins[login.shop]": "alice"}, {"_key:logins:0": "login.shop", "_value:logins:0": "alice"}):
            answer = self.console.call("token.mintForDeveloper", poolId=pool, **fields)
            self.assertEqual(json.loads(answer.result)["token"], "***", answer.words)

    def test_errors_of_methods_are_shown_with_their_violations(self):
        answer = self.console.call("tenant.create", tenantId="not valid!", **{"tokens[idTokenSeconds]": "many"})
        error = json.loads(answer.result)
        self.assertEqual(error["data"]["type"], "invalidParams")
        for violation in error["data"]["violations"]:
            self.assertIn(violation["message"], answer.words)

    def test_destructive_method_needs_the_id(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        for confirm in ("", "default"):
            self.assertEqual(self.console.call("tenant.delete", tenantId="shop", _confirm=confirm).status, 400)
        self.assertEqual(len(self.sidecar.call("tenant.list")["tenants"]), 2)
        self.assertIsNotNone(self.console.call("tenant.delete", tenantId="shop", _confirm="shop").result)
        self.assertEqual(len(self.sidecar.call("tenant.list")["tenants"]), 1)
        self.assertEqual(self.sidecar.call("audit.list")["records"][0]["actor"], "console")

    def test_form_that_cannot_be_read_calls_nothing(self):
        deep = "[" * 70 + "]" * 70
        for fields in ({"_json": '{"disabled": true'}, {"_json": "[]"}, {"claims": "{bad"}, {"codes[length": "7"}, {"a" + "[b]" * 1000: "7"}, {"claims": deep}):
            with self.subTest(fields=str(fields)[:40]):
                answer = self.console.call("account.create", username="alice@example.com", **fields)
                self.assertEqual(answer.status, 400)
                self.assertIn("Nothing was called", answer.words)
        # Each value can be read, but the request around it is too deep.
        answer = self.console.call("account.create", username="alice@example.com", claims='{"a":' + "[" * 62 + "]" * 62 + "}")
        self.assertIn("nested too deeply", answer.words)
        self.assertEqual(self.console.get("/methods/account.create?a" + "[b]" * 5000 + "=7").status, 200)
        self.assertEqual(self.sidecar.call("account.list")["accounts"], [])

    def test_nested_and_listed_claims_are_shown_as_they_are(self):
        deep = 1
        for _ in range(60):
            deep = [deep]
        for number, claims in enumerate(({"roles": ["buyer", NASTY]}, {"a": deep})):
            self.sidecar.call("account.create", {"accountId": f"a{number}", "username": f"a{number}@example.com", "claims": claims})
        page = self.console.get("/accounts/a0")
        self.assertIn("<span>buyer</span>", page.text)
        self.assertIn(NASTY, page.words)
        self.assertLess(len(self.console.get("/accounts/a1").text), 20_000)
        self.assertEqual(self.console.get("/accounts").status, 200)

    def test_method_search_finds_names_of_other_products(self):
        self.assertIn("/methods/identity.resolve", self.console.get("/methods?q=GetId").text)
        self.assertIn("No method", self.console.get("/methods?q=nothinglikethis").words)

    def test_outbox_shows_messages_as_they_look(self):
        self.sign_up()
        message = self.sidecar.call("test.outbox", {})["messages"][0]
        self.assertIn(message["code"], self.console.get("/outbox").text)
        page = self.console.get("/outbox/1")
        self.assertIn(message["code"], page.words)
        self.assertIn("alice@example.com", page.words)
        frame = [attributes for tag, attributes in Elements(page.text).found if tag == "iframe"][0]
        self.assertEqual((frame["sandbox"], frame["src"]), (None, "/outbox/1/html"))
        content = self.console.get("/outbox/1/html")
        self.assertEqual(content.text, message["html"])
        self.assertIn("style-src 'unsafe-inline'", content.headers["content-security-policy"])
        self.assertNotIn("script-src", content.headers["content-security-policy"])

    def test_requests_are_live_and_masked(self):
        first = self.console.get("/requests")
        self.assertIn("data-events", first.text)
        events = socket.create_connection(("127.0.0.1", self.console.port), timeout=60)
        self.addCleanup(events.close)
        events.sendall(f"GET /requests/events HTTP/1.1\r\nHost: 127.0.0.1:{self.console.port}\r\nCookie: {self.console.cookie}\r\n\r\n".encode())
        received = b""
        while b"begins" not in received:
            received += events.recv(65536)
        self.sidecar.call("tenant.list", {}, trace="seen")
        while b"seen" not in received:
            received += events.recv(65536)
        self.sign_up()
        self.sidecar.refusal("account.get", {"accountId": "unknown"})
        until(lambda: "accountNotFound" in self.console.get("/requests").text)
        self.assertIn("tenant.list", self.console.get("/requests?method=tenant").text)
        errors = self.console.get("/requests?error=any")
        self.assertEqual(errors.text.count("data-request"), 1)
        number = re.search(r'data-request="(\d+)"(?:(?!</tr>).)*signUp.start', self.console.get("/requests").text, re.S)[1]
        details = self.console.get(f"/requests/{number}")
        self.assertIn("***", details.words)
        self.assertNotIn(PASSWORD, details.words)
        metrics = Elements(self.console.get("/metrics").text)
        self.assertEqual([each["data-plot"] for each in metrics.with_attribute("data-plot")], ["requests", "p50", "errors"])

    def test_keys_have_timeline_key_set_and_rotation(self):
        self.sign_up()
        page = self.console.get("/keys")
        key = self.sidecar.call("key.list", {})["keys"][0]
        self.assertIn("data-timeline", page.text)
        self.assertIn(f'data-key="{key["kid"]}"', page.text)
        self.assertIn('"kty": "', page.words)
        rotated = self.console.post("/keys", {"owner": "tenantId default", "activateAfterSeconds": "0"})
        self.assertEqual(rotated.status, 303)
        self.assertEqual(len(self.sidecar.call("key.list", {})["keys"]), 2)

    def test_audit_log_is_filtered_and_verified(self):
        self.sign_up()
        page = self.console.get("/audit?method=signUp.submitCode")
        self.assertIn("signUp.submitCode", page.text)
        self.assertNotIn("/methods/signIn.withContinuation", page.text)
        verified = self.console.post("/audit", {})
        result = json.loads(verified.result)
        self.assertTrue(result["intact"])
        for chain in result["chains"]:
            self.assertIn(chain["chain"], verified.text)

    def test_role_tester_shows_whether_a_token_gets_a_role(self):
        pool, role = pool_with_role(self.sidecar)
        token = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})["token"]
        yes = self.console.post("/roles", {"roleArn": role, "token": token})
        self.assertIn("Yes.", yes.words)
        self.assertEqual(json.loads(yes.result)["credentials"]["secretAccessKey"], "***")
        self.assertNotIn(token, yes.text)
        no = self.console.post("/roles", {"roleArn": role, "token": token[:-4] + "AAAA"})
        self.assertIn("No.", no.words)
        self.assertEqual(json.loads(no.result)["data"]["type"], "tokenSignatureInvalid")
        self.assertIn(pool, self.console.get("/pools").text)
        self.assertIn("login.shop", self.console.get(path("pools", pool)).text)

    def upload(self, content, **fields):
        fields = {"_token": self.console.token(), **fields}
        body = b"".join(f'--x\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n'.encode() for n, v in fields.items())
        body += b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + content + b"\r\n--x--\r\n"
        return self.console.send("POST", "/import", body, {"Content-Type": "multipart/form-data; boundary=x"})

    def test_import_is_streamed_and_lists_failures_by_line(self):
        lines = [json.dumps({"email": f"user{n}@example.com", "method": "code"}) for n in range(500)]
        lines[6] = '{"email": "not an address"}'
        lines += ["" + " " * 1000] * 2000   # more than a form can have
        started = self.upload("\n".join(lines).encode())
        self.assertEqual((started.status, started.headers.get("location")), (303, "/import/1"), started.words)
        done = until(lambda: (page := self.console.get("/import/1")) and "complete" in page.words and page)
        self.assertIn("<progress", done.text)
        self.assertRegex(done.words, r"\b499\s+Imported")
        self.assertRegex(done.text, r'data-head="Line"><div><span class="number">7<')
        dry = self.upload(b'{"email": "new@example.com", "method": "code"}\n', dryRun="true")
        until(lambda: "dry run is complete" in self.console.get(dry.headers["location"]).words)
        self.assertIn("No account", self.console.get("/accounts?q=new@example.com").words)
        self.assertEqual(self.upload(b"{}", _token="wrong").status, 403)
        self.sidecar.finish()
        self.assertEqual([name for name in os.listdir(self.sidecar.home) if "console" in name], [])

    def test_secrets_are_shown_on_request_only(self):
        shown = self.console_of(self.spawn("--console", "--write", "--show-secrets", testing=True))
        shown.enter()
        for console, hidden in ((self.console, True), (shown, False)):
            pool = json.loads(console.call("pool.create", name="a", developerProvider="login.shop").result)["poolId"]
            token = json.loads(console.call("token.mintForDeveloper", poolId=pool, **{"logins[login.shop]": "alice"}).result)["token"]
            self.assertEqual(token == "***", hidden)
