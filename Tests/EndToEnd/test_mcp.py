"""`mintmark mcp`: the Model Context Protocol, tested with the client of the official Python SDK and with handwritten messages."""

import json
import os
import re
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

OPEN = ["--allow", "all"]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def contract():
    with open(os.path.join(ROOT, "schemas", "openrpc.json"), encoding="utf-8") as file:
        return {method["name"]: method for method in json.load(file)["methods"]}


class Tools(EndToEnd):
    stores = ("sqlite",)

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

    def test_instructions_name_only_tools_that_are_offered(self):
        for tools, begin in {"audit": None, "account_*,describe_method": "Begin with `account_find`.", "-describe_method": "`account_find` or `pool_list`"}.items():
            with self.subTest(tools=tools):
                answers = self.by_hand(
                    self.initialize(), {"method": "notifications/initialized"}, {"id": 1, "method": "tools/list"}, options=["--tools", tools])
                names = {tool["name"] for tool in answers[1]["result"]["tools"]}
                text = answers["i"]["result"]["instructions"]
                self.assertLessEqual(set(re.findall("`([^`]+)`", text)), names)
                self.assertIn(begin or "names the option of mintmark mcp that offers it", text)

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
            process.wait(60)
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

    def client(self, body, *options, **more):
        """Runs `body` with the SDK's client, which finds out the revision by itself."""
        arguments, environment = self.command(*options)

        async def main():
            with open(self.path("stderr"), "w", encoding="utf-8") as log:
                server = stdio_client(StdioServerParameters(command=binary(), args=arguments, env=environment), errlog=log)
                async with Client(server, **more) as client:
                    with anyio.fail_after(60):
                        await body(client)
        anyio.run(main)

    def test_official_client_uses_the_stateless_revision(self):
        async def body(client):
            self.assertEqual(client.protocol_version, "2026-07-28")
            self.assertIn("account_list", [tool.name for tool in (await client.list_tools()).tools])
            self.assertIn("now", (await client.call_tool("system_ping")).structured_content)
            self.assertIn("account_find", client.instructions)
            refused = await client.call_tool("pool_get", {"poolId": "local-1:00000000-0000-0000-0000-000000000000"})
            self.assertTrue(refused.is_error)
            self.assertRegex(refused.content[0].text, "^poolNotFound: .*pool_list")
        self.client(body)

    def test_official_client_can_choose_the_earlier_revision(self):
        async def body(client):
            self.assertEqual(client.protocol_version, "2025-11-25")
            self.assertIn("now", (await client.call_tool("system_ping")).structured_content)
        self.client(body, mode="legacy")

    def test_official_client_reads_resources_and_prompts(self):
        async def body(client):
            listed = {str(each.uri): each for each in (await client.list_resources()).resources}
            for uri in ("mintmark://guides/mfa", "mintmark://glossary", "mintmark://errors", "mintmark://jwks"):
                self.assertIn(uri, listed)
            self.assertIn("# ", (await client.read_resource("mintmark://guides/mfa")).contents[0].text)
            self.assertIn("trust boundary", (await client.read_resource("mintmark://glossary")).contents[0].text)
            errors = (await client.read_resource("mintmark://errors")).contents[0].text
            self.assertIn("`accountNotFound` | 5001", errors)
            await client.call_tool("pool_create", {"name": "shop"})
            keys = (await client.read_resource("mintmark://jwks")).contents[0]
            self.assertEqual((keys.mime_type, "keys" in json.loads(keys.text)), ("application/json", True))
            templates = (await client.list_resource_templates()).resource_templates
            self.assertEqual([each.uri_template for each in templates], ["mintmark://methods/{method}"])
            for name in ("account_find", "account.find"):
                method = json.loads((await client.read_resource(f"mintmark://methods/{name}")).contents[0].text)
                self.assertEqual((method["tool"], method["level"]), ("account_find", "read"))
            with self.assertRaises(MCPError) as refused:
                await client.read_resource("mintmark://guides/nonsense")
            self.assertEqual(refused.exception.error.code, -32602)
            prompts = {each.name: [argument.name for argument in each.arguments] for each in (await client.list_prompts()).prompts}
            self.assertEqual(prompts, {"sign_up_test_user": ["email"], "explain_token": ["token"], "why_cannot_sign_in": ["email"],
                                       "set_up_pool": ["name"], "review_audit": ["since"]})
            for name, (argument,) in prompts.items():
                prompt = await client.get_prompt(name, {argument: 'a "quoted" value'})
                text = prompt.messages[0].content.text
                self.assertIn(json.dumps('a "quoted" value'), text)
                self.assertNotRegex(text, r"`[a-zA-Z]+\\.[a-zA-Z]+`")
            for name, arguments in (("nonsense", {}), ("set_up_pool", {}), ("set_up_pool", {"name": ""})):
                with self.assertRaises(MCPError) as refused:
                    await client.get_prompt(name, arguments)
                self.assertEqual(refused.exception.error.code, -32602)
        self.client(body, *OPEN)

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
            self.assertRegex(refused.content[0].text, "^poolNotFound: .*pool_list")
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
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(ids, ["i", 8])

    # The tool list.

    def tools(self, *options, testing=True):
        answer, = self.session({"id": 1, "method": "tools/list"}, options=options, testing=testing)
        return {tool["name"]: tool for tool in answer["result"]["tools"]}

    def test_each_tool_has_schemas_and_annotations(self):
        methods = contract()
        tools = self.tools(*OPEN, "--output-schemas")
        described = tools.pop("describe_method")
        self.assertIn("method", described["inputSchema"]["required"])
        self.assertEqual(list(tools), [name.replace(".", "_") for name in methods if name != "rpc.discover"])
        named = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, methods)) + r")(?!\w)")
        for name, tool in tools.items():
            method = methods[name.replace("_", ".")]
            with self.subTest(name):
                self.assertNotRegex(json.dumps(tool), named)
                self.assertRegex(name, "^[A-Za-z0-9_]{1,64}$")
                for schema in (tool["inputSchema"], tool["outputSchema"]):
                    jsonschema.Draft202012Validator.check_schema(schema)
                    self.assertEqual(schema["type"], "object")
                    self.assertNotIn("$ref", json.dumps(schema))
                    self.assertNotIn('"secret": true', json.dumps(schema))
                self.assertEqual(set(tool["inputSchema"].get("properties", {})), {p["name"] for p in method["params"]})
                self.assertEqual(tool["annotations"]["readOnlyHint"], method["x-read-only"])
                self.assertFalse(tool["annotations"]["readOnlyHint"] and tool["annotations"]["destructiveHint"])
                self.assertRegex(tool["description"], r"^Use this tool .*\.")
                self.assertTrue(tool["title"])
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

    def test_default_list_is_small_and_useful(self):
        answer, = self.session({"id": 1, "method": "tools/list"}, options=[])
        self.assertLessEqual(len(json.dumps(answer["result"]).encode()), 20480)
        tools = {tool["name"]: tool for tool in answer["result"]["tools"]}
        for name in ("account_list", "account_find", "account_get", "account_graph", "tenant_list", "pool_list", "audit_list", "key_list",
                     "store_stats", "describe_method"):
            self.assertIn(name, tools)
        for name, tool in tools.items():
            self.assertTrue(tool["annotations"]["readOnlyHint"], name)
            self.assertNotIn("outputSchema", tool)
            self.assertNotRegex(tool["description"], r"`[a-z][A-Za-z]*\.[a-z][A-Za-z]*`")
        self.assertTrue(all(len(json.dumps(tool)) < 14_500 for tool in self.tools("--allow", "destroy").values()))
        again, = self.session({"id": 1, "method": "tools/list"}, options=["--allow", "read", "--tools", "default"])
        self.assertEqual(again["result"], answer["result"])

    def test_levels_include_each_other(self):
        methods = contract()

        def names(*options):
            return set(self.tools("--tools", "all", *options)) - {"describe_method"}
        read, write, destroy, secret, admin, every = (names(*options) for options in (
            [], ["--allow", "write"], ["--allow", "destroy"], ["--allow", "secrets"], ["--allow", "admin"], ["--allow", "all"]))
        self.assertEqual(admin, destroy)
        self.assertTrue(read < write < destroy < every and read < secret < every)
        self.assertEqual(names("--allow", "secrets"), names("--allow", "read, secrets"))
        self.assertEqual(names("--allow", "write,destroy,secrets"), every)

        def expected(levels, secrets):
            return {name.replace(".", "_") for name, each in methods.items() if name != "rpc.discover" and each["x-level"] in levels
                    and (secrets or not each.get("x-secrets"))}
        self.assertEqual(read, expected({"read"}, False))
        self.assertEqual(write, expected({"read", "write"}, False))
        self.assertEqual(secret, expected({"read"}, True))
        self.assertIn("pool_create", write - read)
        self.assertIn("pool_delete", destroy - write)
        self.assertIn("token_verify", secret - read)
        self.assertTrue({"account_list", "account_get", "account_find", "tenant_get", "tenant_list"} <= read)
        self.assertFalse({"token_mintForDeveloper", "signIn_start", "test_token", "test_outbox", "account_export"} & destroy)

    def test_tools_are_selected_by_name_pattern_and_toolset(self):
        self.assertEqual(
            set(self.tools("--tools", "account_*")), {"account_find", "account_get", "account_graph", "account_list", "account_listAgents"})
        self.assertEqual(
            set(self.tools("--tools", "account_*,-account_g*,pool_list")), {"account_find", "account_list", "account_listAgents", "pool_list"})
        self.assertEqual(set(self.tools("--tools", "audit")), {"audit_list", "audit_verify", "events_listStreams"})
        self.assertNotIn("account_list", self.tools("--tools", "-account_list"))
        self.assertIn("account_find", self.tools("--tools", "-account_list"))
        self.assertIn("test_clock", self.tools("--tools", "testing", "--allow", "write"))

    def test_secret_parameters_are_left_out_without_secrets(self):
        tools = self.tools("--tools", "all", "--allow", "write")
        self.assertEqual(set(tools["account_graph"]["inputSchema"]["properties"]), {"accountId", "format"})
        self.assertNotIn("password", tools["account_create"]["inputSchema"]["properties"])
        self.assertIn("attributes", tools["account_create"]["inputSchema"]["properties"])
        self.assertNotIn("clientSecret", tools["idp_update"]["inputSchema"]["properties"])
        self.assertNotIn('"password": {', json.dumps(tools["tenant_update"]["inputSchema"]))
        for name, arguments, path in (
                ("account_create", {"username": "a@example.com", "password": "correct horse 9 Battery"}, "/password"),
                ("tenant_update", {"tenantId": "default", "delivery": {"smtp": {"password": "x"}}}, "/delivery/smtp/password"),
                ("system_apply", {"idps": [{"clientSecret": "x"}]}, "/idps/0/clientSecret")):
            answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
                                   options=["--tools", "all", "--allow", "write"])
            self.assertIs(answer["result"]["isError"], True)
            self.assertIn(f"the secret argument {path}", answer["result"]["content"][0]["text"])
            self.assertIn("--allow write,secrets", answer["result"]["content"][0]["text"])

    def test_tool_that_is_not_offered_is_a_result_with_the_option(self):
        for tool, options, hint in (
                ("pool_create", [], "--allow write."), ("pool_delete", [], "--allow destroy."), ("pool_delete", ["--allow", "secrets"], "--allow destroy,secrets."),
                ("token_verify", [], "--allow read,secrets."), ("token_mintForDeveloper", ["--allow", "write"], "--allow write,secrets."),
                ("system_metrics", [], "--tools default,system_metrics."), ("describe_method", ["--tools", "audit"], "--tools"),
                ("account_list", ["--tools", "-account_list"], "with --tools default,account_list.")):
            answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}, options=options)
            self.assertIs(answer["result"]["isError"], True)
            self.assertIn(hint, answer["result"]["content"][0]["text"])
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "test_clock"}}, testing=False)
        self.assertIn("--testing", answer["result"]["content"][0]["text"])
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "pool_list"}}, options=["--caller", "public"], testing=False)
        self.assertIn("without --caller public", answer["result"]["content"][0]["text"])

    def test_public_caller_gets_public_tools_only(self):
        methods = contract()
        tools = set(self.tools("--caller", "public", *OPEN, testing=False)) - {"describe_method"}
        self.assertEqual(tools, {name.replace(".", "_") for name, each in methods.items() if each["x-caller"] == "public"} - {"rpc_discover"})

    def test_describe_method_returns_schema_errors_and_examples(self):
        def describe(name):
            answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "describe_method", "arguments": {"method": name}}}, options=[])
            return answer["result"]
        for name, method in contract().items():
            if name in ("account.delete", "pool.create", "signIn.start", "tenant.update"):
                described = describe(name.replace(".", "_"))["structuredContent"]
                self.assertEqual((described["method"], described["offered"]), (name, False))
                self.assertIn("--allow", described["howToOffer"])
                self.assertEqual([each["type"] for each in described["errors"]], [each["$ref"].split("/")[-1] for each in method["errors"]])
                self.assertEqual(len(described["examples"]), len(method["examples"]))
                for example in described["examples"]:
                    jsonschema.Draft202012Validator(described["inputSchema"]).validate(example["arguments"])
                    jsonschema.Draft202012Validator(described["outputSchema"]).validate(example["result"])
        for name in ("account_lst", ""):
            self.assertIs(describe(name)["isError"], True)
        self.assertIn("account_list", describe("account_lst")["content"][0]["text"])

    def test_texts_name_tools_as_they_are_called(self):
        start = {"id": 1, "method": "tools/call", "params": {"name": "signIn_start", "arguments": {"username": "nobody@example.com"}}}
        wrong = {"id": 2, "method": "tools/call", "params": {"name": "account_get", "arguments": {"accountId": "x"}}}
        audit = {"id": 4, "method": "tools/call", "params": {"name": "audit_list", "arguments": {}}}
        make = {"id": 3, "method": "tools/call", "params": {"name": "pool_create", "arguments": {"name": "shop"}}}
        first, second, _, fourth = self.session(start, wrong, make, audit)
        text = first["result"]["content"]
        self.assertIn("signUp_start", text[0]["text"])
        self.assertEqual(json.loads(text[1]["text"])["data"]["next"], "signUp_start")
        self.assertIn("account_list", second["result"]["content"][0]["text"])
        # Data does not change.
        self.assertEqual(fourth["result"]["structuredContent"]["records"][0]["method"], "pool.create")
        few, = self.session(start, options=["--allow", "write,secrets", "--tools", "signIn_start"])
        self.assertIn("signUp_start: start mintmark mcp with --tools signIn_start,signUp_start.", few["result"]["content"][0]["text"])

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
                               {"id": 3, "method": "tools/call", "params": {"name": "system_ping"}}, {"id": 4, "method": "prompts/list"})
        self.assertEqual(answers[1]["result"], {})
        for number in (2, 3, 4):
            self.assertEqual(answers[number]["error"]["code"], -32600)
            self.assertIn("initialize", answers[number]["error"]["message"])

    # The stateless revision.

    def stateless(self, method, params=None, meta=META):
        return {"id": method, "method": method, "params": {**(params or {}), "_meta": meta}}

    def test_stateless_requests_need_no_handshake(self):
        cached = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
        answers = self.by_hand(
            *(self.stateless(method, {"uri": "mintmark://jwks"} if method == "resources/read" else None) for method in cached),
            self.stateless("tools/call", {"name": "system_ping"}), self.stateless("prompts/get", {"name": "set_up_pool", "arguments": {"name": "x"}}))
        for method, answer in answers.items():
            result = answer["result"]
            self.assertEqual(result["resultType"], "complete", method)
            self.assertEqual(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mintmark")
            self.assertEqual("ttlMs" in result, method in cached, method)
            self.assertEqual(result.get("cacheScope"), "private" if method in cached else None)
        discovered = answers["server/discover"]["result"]
        self.assertEqual(discovered["supportedVersions"], ["2026-07-28", "2025-11-25", "2025-06-18"])
        self.assertEqual(set(discovered["capabilities"]), {"tools", "resources", "prompts"})
        guide = self.by_hand(self.stateless("resources/read", {"uri": "mintmark://guides/mfa"}))["resources/read"]["result"]
        self.assertEqual(guide["cacheScope"], "public")

    def test_stateless_request_that_is_malformed_is_refused(self):
        version, capabilities = META
        for meta, code in (({version: "2026-07-28"}, -32602), ({capabilities: {}}, -32602), ({version: 1, capabilities: {}}, -32602),
                           ({version: "2026-07-28", capabilities: []}, -32602), ({}, -32602), ({version: "2099-01-01", capabilities: {}}, -32022)):
            for method in ("tools/list", "server/discover"):
                error = self.by_hand(self.stateless(method, meta=meta))[method]["error"]
                self.assertEqual(error["code"], code, meta)
                if code == -32022:
                    self.assertEqual(error["data"], {"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "2099-01-01"})
        answers = self.by_hand({"id": 1, "method": "server/discover"}, *(self.stateless(name) for name in (
            "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen")), self.stateless("resources/read", {"uri": "mintmark://x"}))
        self.assertEqual(answers.pop(1)["error"]["code"], -32602)
        self.assertEqual(answers.pop("resources/read")["error"]["code"], -32602)
        self.assertEqual({answer["error"]["code"] for answer in answers.values()}, {-32601})

    def test_both_eras_are_served_by_one_process(self):
        first, second, third = self.session(
            {"id": 1, "method": "tools/list"}, self.stateless("tools/list"), {"id": 3, "method": "resources/read", "params": {"uri": "mintmark://x"}})
        self.assertNotIn("resultType", first["result"])
        self.assertEqual(second["result"]["resultType"], "complete")
        self.assertEqual(first["result"]["tools"], second["result"]["tools"])
        self.assertEqual((third["error"]["code"], third["error"]["data"]["uri"]), (-32002, "mintmark://x"))

    def test_stateless_request_that_is_canceled_gets_no_response(self):
        lines = [self.stateless("tools/call", {"name": "test_outbox", "arguments": {"waitSeconds": 60}}),
                 {"method": "notifications/cancelled", "params": {"requestId": "tools/call"}}, self.stateless("tools/list")]
        self.assertEqual(set(self.by_hand(*lines)), {"tools/list"})

    def test_invalid_message_fails_with_a_reason(self):
        def refused(message, code, word):
            answer, = self.session({"id": 1, **message})
            self.assertEqual(answer["error"]["code"], code)
            self.assertIn(word, answer["error"]["message"])
        refused({"method": "logging/setLevel"}, -32601, "logging/setLevel")
        refused({"method": "resources/read", "params": {}}, -32602, "uri")
        refused({"method": "system.ping"}, -32601, "system.ping")
        refused({"method": "tools/list", "params": {"cursor": "x"}}, -32602, "single page")
        refused({"method": "tools/call", "params": {}}, -32602, "name")
        refused({"method": "tools/call", "params": {"name": "system_ping", "arguments": []}}, -32602, "object")
        refused(self.initialize(), -32600, "already")
        answers = self.by_hand({"id": 1, "method": "initialize", "params": {}}, '[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n', "{nonsense\n")
        self.assertEqual(answers[1]["error"]["code"], -32602)
        self.assertNotIn(2, answers)

    def test_unknown_methods_name_methods_of_the_protocol(self):
        for method, hint in (("foo/bar", "To list the tools, call tools/list."), ("tools/lst", "Similar methods: tools/list."),
                             ("pool.list", "It is a tool: call tools/call with the name pool_list.")):
            answer, = self.session({"id": "a", "method": method})
            self.assertEqual(answer["error"]["code"], -32601)
            self.assertIn(hint, answer["error"]["message"])
            self.assertNotIn("rpc.discover", answer["error"]["message"])

    def test_arguments_may_be_omitted(self):
        for params in ({"name": "system_ping"}, {"name": "system_ping", "arguments": None}, {"name": "system_ping", "arguments": {}, "_meta": {"x": 1}}):
            answer, = self.session({"id": "a", "method": "tools/call", "params": params})
            self.assertIn("now", answer["result"]["structuredContent"])

    def test_invalid_options_fail_with_usage_error(self):
        for options, word in (
                (["--allow", "root"], "read, write, destroy, secrets, all"), (["--allow", "rite"], "Did you mean write?"), (["--allow", "read,"], "''"),
                (["--tools", "account_lst"], "Did you mean account_list"), (["--tools", "acounts"], "Did you mean accounts"),
                (["--tools", "xyz_*"], "matches no tool"), (["--tools", "-xyz"], "matches no tool"), (["--tools", "accounts,-accounts"], "no tool is left"), (["--tools", ""], "empty name"),
                (["--tools", "account_delete"], "--allow destroy"), (["--tools", "testing"], "--testing"), (["--tools", "pools", "--caller", "public"], "--caller public")):
            done = subprocess.run([binary(), "mcp", "--store", ":memory:", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  env=clean_environment(self.folder), timeout=60)
            self.assertEqual(done.returncode, 64)
            self.assertIn(word, done.stderr)

    def test_store_that_cannot_be_opened_is_reported_in_results(self):
        answer, = self.session({"id": 1, "method": "tools/call", "params": {"name": "pool_list"}}, store=self.path("no", "such.db"))
        self.assertIs(answer["result"]["isError"], True)
        self.assertIn("storeCannotOpen", answer["result"]["content"][0]["text"])
    test_store_that_cannot_be_opened_is_reported_in_results.stores = ("sqlite",)


def contract_errors():
    with open(os.path.join(ROOT, "schemas", "errors.json"), encoding="utf-8") as file:
        return {each["type"]: each["code"] for each in json.load(file)["errors"]}
