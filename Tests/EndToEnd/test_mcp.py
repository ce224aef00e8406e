"""`mintmark mcp`: the Model Context Protocol, tested with the client of the official Python SDK and with handwritten messages."""

import json
import os
import subprocess

import anyio
import jsonschema
import stores
from endtoend import EndToEnd
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities, Implementation, InitializeRequest, InitializeRequestParams, InitializeResult
from sidecar import ROOT, binary, clean_environment

OPEN = ["--allow", "admin,secrets"]


def contract():
    with open(os.path.join(ROOT, "schemas", "openrpc.json"), encoding="utf-8") as file:
        return {method["name"]: method for method in json.load(file)["methods"]}


class Tools(EndToEnd):
    def command(self, *options, store=":memory:", testing=True):
        store, needed = stores.current.place(store)
        arguments = ["mcp", "--store", store] + (["--testing"] if testing else []) + list(options)
        return arguments, {k: v for k, v in clean_environment(self.folder, needed).items() if k != "PYTHONPATH"}

    def talk(self, body, *options, **more):
        """Runs `body` with a session of the SDK's client over a new process. `body` must call `initialize` first."""
        arguments, environment = self.command(*options, **more)

        async def main():
            server = StdioServerParameters(command=binary(), args=arguments, env=environment)
            with open(self.path("stderr"), "w", encoding="utf-8") as log:
                async with stdio_client(server, errlog=log) as (reading, writing), ClientSession(reading, writing) as session:
                    with anyio.fail_after(60):
                        await body(session)
        anyio.run(main)

    def by_hand(self, *messages, options=OPEN, status=0, testing=True):
        """Writes all messages at once and returns the responses by ID."""
        arguments, environment = self.command(*options, testing=testing)
        lines = "".join(m if isinstance(m, str) else json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in messages)
        done = subprocess.run([binary(), *arguments], input=lines, capture_output=True, text=True, timeout=30, env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return {m.get("id", m.get("method")): m for m in map(json.loads, done.stdout.splitlines())}

    def initialize(self, version="2025-11-25"):
        return {"id": "i", "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}

    def session(self, *messages, version="2025-11-25", **more):
        """Sends messages one after the other in a session and returns the responses."""
        arguments, environment = self.command(*more.pop("options", OPEN), **more)
        process = subprocess.Popen([binary(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        try:
            answers = []
            for message in (self.initialize(version), *messages):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                process.stdin.flush()
                if "id" in message:
                    answers.append(json.loads(process.stdout.readline()))
            return answers[1:]
        finally:
            process.stdin.close()
            process.wait(20)
            process.stdout.close()

    # The official client.

    def test_official_client_creates_a_pool_and_verifies_a_token(self):
        """Creates a pool, mints a token and verifies it. The client validates each result with the output schema of the tool."""
        async def body(session):
            agreed = await session.initialize()
            self.assertEqual((agreed.protocol_version, agreed.server_info.name), ("2025-11-25", "mintmark"))
            await session.send_ping()
            await session.list_tools()
            pool = await session.call_tool("pool_create", {"name": "shop", "developerProvider": "login.shop"})
            self.assertFalse(pool.is_error, pool)
            self.assertEqual(json.loads(pool.content[0].text), pool.structured_content)
            pool = pool.structured_content["poolId"]
            minted = await session.call_tool("token_mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
            verified = await session.call_tool("token_verify", {"token": minted.structured_content["token"], "audience": pool})
            self.assertEqual(verified.structured_content["claims"]["sub"], minted.structured_content["identityId"])
            async with anyio.create_task_group() as group:   # concurrently
                for number in range(50):
                    group.start_soon(session.call_tool, "token_mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"u{number}"}})
            listed = await session.call_tool("identity_list", {"poolId": pool})
            self.assertEqual(len(listed.structured_content["identities"]), 51)
        self.talk(body, *OPEN)

    def test_official_client_negotiates_the_protocol(self):
        """The client requests the stateless protocol first. The server does not support it, so that the client falls back."""
        arguments, environment = self.command()

        async def main():
            with open(self.path("stderr"), "w", encoding="utf-8") as log:
                async with Client(stdio_client(StdioServerParameters(command=binary(), args=arguments, env=environment), errlog=log)) as client:
                    self.assertEqual(client.protocol_version, "2025-11-25")
                    self.assertIn("system_ping", [tool.name for tool in (await client.list_tools()).tools])
                    self.assertIn("now", (await client.call_tool("system_ping")).structured_content)
        anyio.run(main)

    def test_client_of_the_earlier_revision_is_supported(self):
        async def body(session):
            request = InitializeRequest(params=InitializeRequestParams(
                protocol_version="2025-06-18", capabilities=ClientCapabilities(), client_info=Implementation(name="old", version="1")))
            self.assertEqual((await session.send_request(request, InitializeResult)).protocol_version, "2025-06-18")
        self.talk(body)

    def test_method_error_is_a_tool_result_with_a_hint(self):
        async def body(session):
            await session.initialize()
            refused = await session.call_tool("pool_get", {"poolId": "local-1:00000000-0000-0000-0000-000000000000"})
            self.assertTrue(refused.is_error)
            self.assertRegex(refused.content[0].text, "^poolNotFound: .*pool.list")
            self.assertEqual(json.loads(refused.content[1].text)["code"], contract_errors()["poolNotFound"])
            self.assertIsNone(refused.structured_content)
        self.talk(body, *OPEN)

    def test_unknown_tools_and_invalid_arguments_fail_with_a_hint(self):
        async def body(session):
            await session.initialize()
            for name, hint in (("pool_creat", "Did you mean pool_create"), ("pool.create", "The tool of method pool.create is pool_create"), ("", "")):
                with self.assertRaises(MCPError) as refused:
                    await session.call_tool(name, {})
                self.assertEqual(refused.exception.error.code, -32602)
                self.assertIn(hint, refused.exception.error.message)
            wrong = await session.call_tool("pool_create", {"nam": "shop"})
            self.assertTrue(wrong.is_error)
            self.assertIn("invalidParams", wrong.content[0].text)
            self.assertIn("name", wrong.content[0].text)
        self.talk(body, *OPEN)

    def test_progress_is_reported_if_requested(self):
        """Each progress value is larger than the previous one."""
        async def body(session):
            await session.initialize()
            told = []

            async def note(progress, total, message):
                told.append((progress, total))
            await session.call_tool("pool_create", {"name": "shop"})
            await session.call_tool("audit_verify", {}, progress_callback=note)
            self.assertTrue(told)
            self.assertEqual([each[0] for each in told], sorted({each[0] for each in told}))
            self.assertEqual(told[-1][0], told[-1][1])
            told.clear()
            people = self.path("people.jsonl")
            with open(people, "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"email": f"p{number}@example.com"}) + "\n" for number in range(600))
            await session.call_tool("account_import", {"file": people}, progress_callback=note)
            self.assertGreater(len(told), 1)
            self.assertEqual({total for _, total in told}, {None})   # the total is unknown, since the lines are not counted in advance
        self.talk(body, *OPEN)

    def test_canceled_request_gets_no_response(self):
        messages = [
            self.initialize(), {"id": 7, "method": "tools/call", "params": {"name": "test_outbox", "arguments": {"waitSeconds": 60}}},
            {"method": "notifications/cancelled", "params": {"requestId": 7, "reason": "enough"}},
            {"id": 8, "method": "ping"}]
        arguments, environment = self.command(*OPEN)
        with subprocess.Popen([binary(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
            ids = []
            for message in messages:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                process.stdin.flush()
                if message.get("id") in ("i", 8):
                    ids.append(json.loads(process.stdout.readline())["id"])
            process.stdin.close()
            ids += [json.loads(line)["id"] for line in process.stdout]   # returns immediately, not after a minute
            self.assertEqual(process.wait(20), 0)
        self.assertEqual(ids, ["i", 8])

    # The tool list.

    def tools(self, *options, testing=True):
        answer, = self.session({"id": 1, "method": "tools/list"}, options=options, testing=testing)
        return {tool["name"]: tool for tool in answer["result"]["tools"]}

    def test_each_tool_has_schemas_and_annotations(self):
        methods = contract()
        tools = self.tools(*OPEN)
        self.assertEqual(set(tools), {name.replace(".", "_") for name in methods} - {"rpc_discover"})
        self.assertEqual(list(tools), [name.replace(".", "_") for name in methods if name != "rpc.discover"])
        for name, tool in tools.items():
            method = methods[name.replace("_", ".")]
            with self.subTest(name):
                self.assertRegex(name, "^[A-Za-z0-9_]{1,64}$")
                for schema in (tool["inputSchema"], tool["outputSchema"]):
                    jsonschema.Draft202012Validator.check_schema(schema)
                    self.assertEqual(schema["type"], "object")
                    self.assertNotIn("$ref", json.dumps(schema))
                    self.assertNotIn('"secret": true', json.dumps(schema))
                self.assertEqual(set(tool["inputSchema"]["properties"]), {p["name"] for p in method["params"]})
                self.assertEqual(tool["annotations"]["readOnlyHint"], method["x-read-only"])
                self.assertFalse(tool["annotations"]["readOnlyHint"] and tool["annotations"]["destructiveHint"])
                self.assertTrue(tool["title"] and tool["description"])
                for pairing in method["examples"]:
                    arguments = {p["name"]: p["value"] for p in pairing["params"]}
                    jsonschema.Draft202012Validator(tool["inputSchema"]).validate(arguments)
                    if "result" in pairing:
                        jsonschema.Draft202012Validator(tool["outputSchema"]).validate(pairing["result"]["value"])
        hints = {name: tool["annotations"] for name, tool in tools.items()}
        self.assertEqual([hints[n]["destructiveHint"] for n in ("pool_create", "pool_delete", "token_mint", "role_put", "system_ping")],
                         [False, True, False, True, False])
        self.assertEqual([hints[n]["idempotentHint"] for n in ("pool_create", "pool_delete", "role_put", "token_mint")], [False, True, True, False])
        self.assertIn("Give exactly one of token, identityId.", tools["credentials_get"]["description"])

    def test_without_grants_only_public_tools_without_secrets_are_listed(self):
        methods = contract()

        def is_public(name):
            return methods[name.replace("_", ".")]["x-caller"] == "public"
        some, admin, secrets, all = (set(self.tools(*options)) for options in (
            [], ["--allow", "admin"], ["--allow", "secrets"], ["--allow", "secrets,admin"]))
        self.assertEqual(some, {"system_ping", "token_jwks", "token_discovery"})
        self.assertIn("pool_create", admin)
        self.assertFalse({"token_mintForDeveloper", "signIn_start", "tenant_create", "test_token"} & admin)
        self.assertTrue(all_public := {name for name in secrets if is_public(name)})
        self.assertEqual(all_public, secrets)
        self.assertIn("token_verify", secrets)
        self.assertEqual(some, admin & secrets)
        self.assertLess(admin | secrets, all)

    def test_tool_that_is_not_granted_cannot_be_called(self):
        """The error names the option that grants it."""
        for tool, options, hint in (("pool_create", [], "--allow admin."), ("token_verify", [], "--allow secrets."),
                                    ("token_mintForDeveloper", ["--allow", "secrets"], "--allow admin,secrets.")):
            answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}, options=options)
            self.assertEqual(answer["error"]["code"], -32602)
            self.assertIn(hint, answer["error"]["message"])
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "test_clock"}}, testing=False)
        self.assertIn("--testing", answer["error"]["message"])

    def test_without_admin_methods_run_as_the_public_caller(self):
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "mfa_list", "arguments": {"accountId": "a" * 28}}},
                               options=["--allow", "secrets"])
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("callerNotAllowed", answer["result"]["content"][0]["text"])

    # The protocol.

    def test_invalid_arguments_are_a_protocol_error_in_the_earlier_revision(self):
        call = {"id": 1, "method": "tools/call", "params": {"name": "pool_create", "arguments": {"nam": "x"}}}
        earlier, = self.session(call, version="2025-06-18")
        self.assertEqual((earlier["error"]["code"], earlier["error"]["data"]["type"]), (-32602, "invalidParams"))
        later, = self.session(call)
        self.assertIs(later["result"]["isError"], True)

    def test_unsupported_revision_gets_the_latest(self):
        for version in ("2024-11-05", "2099-01-01"):
            answers = self.by_hand(self.initialize(version))
            self.assertEqual(answers["i"]["result"]["protocolVersion"], "2025-11-25")

    def test_before_initialize_only_ping_succeeds(self):
        answers = self.by_hand({"id": 1, "method": "ping"}, {"id": 2, "method": "tools/list"},
                               {"id": 3, "method": "tools/call", "params": {"name": "system_ping"}})
        self.assertEqual(answers[1]["result"], {})
        for number in (2, 3):
            self.assertEqual(answers[number]["error"]["code"], -32600)
            self.assertIn("initialize", answers[number]["error"]["message"])

    def test_invalid_message_fails_with_a_reason(self):
        def refused(message, code, word):
            answer, = self.session({"id": 1, **message})
            self.assertEqual(answer["error"]["code"], code)
            self.assertIn(word, answer["error"]["message"])
        refused({"method": "resources/list"}, -32601, "resources/list")
        refused({"method": "system.ping"}, -32601, "system.ping")
        refused({"method": "tools/list", "params": {"cursor": "x"}}, -32602, "single page")
        refused({"method": "tools/call", "params": {}}, -32602, "name")
        refused({"method": "tools/call", "params": {"name": "system_ping", "arguments": []}}, -32602, "object")
        refused(self.initialize(), -32600, "already")
        answers = self.by_hand({"id": 1, "method": "initialize", "params": {}}, '[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n', "{nonsense\n")
        self.assertEqual(answers[1]["error"]["code"], -32602)
        self.assertNotIn(2, answers)

    def test_arguments_may_be_omitted(self):
        for params in ({"name": "system_ping"}, {"name": "system_ping", "arguments": None}, {"name": "system_ping", "arguments": {}, "_meta": {"x": 1}}):
            answer, = self.session({"id": "a", "method": "tools/call", "params": params})
            self.assertIn("now", answer["result"]["structuredContent"])

    def test_invalid_options_fail_with_usage_error(self):
        for options, word in ((["--allow", "root"], "admin,secrets"), (["--allow", "admin", "--caller", "public"], "exclude each other")):
            done = subprocess.run([binary(), "mcp", "--store", ":memory:", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  env=clean_environment(self.folder), timeout=20)
            self.assertEqual(done.returncode, 64)
            self.assertIn(word, done.stderr)

    def test_a_store_that_cannot_be_opened_is_said_in_results(self):
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "pool_list"}}, store=self.path("no", "such.db"))
        self.assertIs(answer["result"]["isError"], True)
        self.assertIn("storeCannotOpen", answer["result"]["content"][0]["text"])
    test_a_store_that_cannot_be_opened_is_said_in_results.stores = ("sqlite",)


def contract_errors():
    with open(os.path.join(ROOT, "schemas", "errors.json"), encoding="utf-8") as file:
        return {each["type"]: each["code"] for each in json.load(file)["errors"]}
