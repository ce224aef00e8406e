import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { InvalidRequest, ParseError, ProtocolError } from "../src/index.js";
import { LineSplitter } from "../src/lines.js";
import { client, mint, program, shop, testing } from "./support.js";

test("1,000 concurrent calls each receive their own response", async (t) => {
  const m = await testing(t);
  const pool = await shop(m);
  const users = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  const minted = await Promise.all(users.map((user) => mint(m, pool, user)));
  assert.equal(new Set(minted.map((each) => each.identityId)).size, 1000);
  const again = await Promise.all(users.map((user) => mint(m, pool, user)));
  assert.deepEqual(again.map((each) => each.identityId), minted.map((each) => each.identityId));
});

test("calls above the concurrency limit of the program are queued and all receive a response", async (t) => {
  const m = await testing(t);
  const large = { token: "x".repeat(10_000), audience: "a" };
  const outcomes = await Promise.allSettled(Array.from({ length: 5000 }, () => m.token.verify(large)));
  assert.ok(outcomes.every((outcome) => outcome.reason.type === "tokenMalformed"));
});

test("characters of all scripts survive a round trip", async (t) => {
  const m = await testing(t);
  const { token } = await mint(m, await shop(m));
  const audience = 'Zoë 🦊 日本語 𝔘𝔫𝔦 \u2028 \\ \\ud83e " \t';
  await assert.rejects(m.token.verify({ token, audience }), (error) => error.data.expected === audience);
});

test("a parameter of 900 kB arrives", async (t) => {
  const m = await testing(t);
  const token = "é".repeat(450_000);
  await assert.rejects(m.token.verify({ token, audience: "a" }), (error) => {
    // The program has read the whole token: the error is about its length.
    assert.equal(error.type, "invalidParams");
    assert.equal(error.data.violations[0].pointer, "/token");
    return true;
  });
});

test("an unparseable request rejects immediately, and concurrent calls succeed", async (t) => {
  const m = await testing(t);
  process.kill(m.pid, "SIGSTOP");
  const beside = Array.from({ length: 10 }, () => m.system.ping());
  const soon = { timeoutMs: 10_000 };
  await assert.rejects(m.token.verify({ token: "x".repeat(1 << 20), audience: "a" }, soon), InvalidRequest);
  await assert.rejects(m.token.verify({ token: "half \ud83e", audience: "a" }, soon), ParseError);
  process.kill(m.pid, "SIGCONT");
  assert.equal((await Promise.all(beside)).length, 10);
});

test("excessive nesting rejects without waiting", async (t) => {
  const m = await testing(t);
  let deep = {};
  for (let depth = 0; depth < 80; depth++) deep = { deep };
  await assert.rejects(m.call("system.ping", deep), ParseError);
});

test("maxLineBytes raises the limit of the client and the process", async (t) => {
  const m = await testing(t, { maxLineBytes: 4 << 20 });
  await assert.rejects(m.token.verify({ token: "x".repeat(2 << 20), audience: "a" }), { type: "invalidParams" });
});

test("a response of 16 MiB with multi-byte characters in many chunks is read completely", async (t) => {
  const m = client(t, { binary: program(t, `answer({ id: request.id, result: { text: "é🦊".repeat((16 << 20) / 6 - 100) } });`) });
  const { text } = await m.call("any.thing");
  assert.equal(Buffer.byteLength(text), 6 * Math.floor((16 << 20) / 6 - 100));
  assert.ok(!text.includes("\ufffd"));
});

test("lines do not depend on chunk boundaries", () => {
  const bytes = Buffer.from('{"a":"é"}\n\n{"b":"🦊"}\nrest');
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const splitter = new LineSplitter(100);
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
      assert.deepEqual([...lines, splitter.rest()], ['{"a":"é"}', "", '{"b":"🦊"}', "rest"]);
    }
  }
});

test("a line without an end rejects with ProtocolError", async (t) => {
  const m = client(t, { binary: program(t, `for (;;) if (!process.stdout.write("x".repeat(1 << 20))) await new Promise((go) => process.stdout.once("drain", go));`) });
  await assert.rejects(m.system.ping(), (error) => error instanceof ProtocolError && /a line of more than/.test(error.message));
});

test("a listener that throws does not affect responses", async (t) => {
  const script = `
    import { Mintmark } from ${JSON.stringify(new URL("../src/index.js", import.meta.url))};
    const caught = [];
    process.on("uncaughtException", (error) => caught.push(error.message));
    const m = new Mintmark({ store: ":memory:", binary: process.argv[1], stderr: () => { throw new Error("log"); } });
    m.on("notification", () => { throw new Error("listener"); });
    const { now } = await m.system.ping();
    await m.close();
    console.log(JSON.stringify([now, caught.sort()]));`;
  const binary = program(
    t,
    `console.error("two\\nlines"); process.stdout.write('{"jsonrpc":"2.0","method":"n"}\\n{"jsonrpc":"2.0","id":1,"result":{"now":1}}\\n');`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script, binary], { timeout: 20_000 });
  assert.deepEqual(JSON.parse(stdout), [1, ["listener", "log", "log"]]);
});

test("notifications are delivered between responses", async (t) => {
  const m = client(t, {
    binary: program(t, `answer({ method: "$/progress", params: { token: "p", value: 0.5 } }); answer({ id: request.id, result: { now: 1 } });`),
  });
  const told = [];
  m.on("notification", (notification) => told.push(notification));
  assert.equal((await m.system.ping()).now, 1);
  assert.deepEqual(told, [{ method: "$/progress", params: { token: "p", value: 0.5 } }]);
});

test("a credentials provider sends identityChanged before its response", async (t) => {
  const m = await testing(t);
  const pool = await shop(m, { allowUnauthenticated: true });
  const { poolId } = pool;
  const { identityId: alice } = await mint(m, pool);
  const told = [];
  m.on("notification", (notification) => told.push(notification));
  const { provider } = await m.credentialsProvider.open({ poolId });
  const { identityId: guest } = await m.credentialsProvider.identityId({ provider });
  await m.credentialsProvider.setLogins({ provider, logins: { "login.shop": "alice" } });
  assert.equal((await m.credentialsProvider.identityId({ provider })).identityId, alice);
  assert.deepEqual(told, [
    { method: "credentialsProvider/identityChanged", params: { provider, oldIdentityId: guest, newIdentityId: alice } },
  ]);
});

test("with sequential, responses arrive in the order of the calls", async (t) => {
  const m = await testing(t, { sequential: true });
  const order = [];
  await Promise.all(Array.from({ length: 200 }, (_, index) => m.system.ping().then(() => order.push(index))));
  assert.deepEqual(order, Array.from({ length: 200 }, (_, index) => index));
});
