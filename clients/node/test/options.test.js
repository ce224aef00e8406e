import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { CallTimeout, CredentialsProvider, Mintmark, ProcessEnded } from "../src/index.js";
import { TestingClient } from "../src/testing.js";
import { folder, mint, shop, testing } from "./support.js";

test("a misspelled or invalid option of a call rejects", async (t) => {
  const m = await testing(t);
  await assert.rejects(m.system.ping({}, { timeout: 3 }), /no option timeout\. It has timeoutMs/);
  await assert.rejects(m.call("system.ping", {}, { sigal: null }), TypeError);
  await assert.rejects(m.system.ping({}, 3), /options are an object/);
  await assert.rejects(m.system.ping({}, { signal: {} }), /signal is an AbortSignal/);
  await assert.rejects(m.system.ping({}, { progress: 1 }), /progress is a function/);
  await assert.rejects(m.system.ping({}, { progress() {} }), /system\.ping does not report progress/);
  for (const timeoutMs of ["3", 0, -1, NaN]) await assert.rejects(m.system.ping({}, { timeoutMs }), /positive number of milliseconds/);
  assert.throws(() => new Mintmark({ store: ":memory:", timeoutMs: "3" }), /positive number/);
  assert.throws(() => new Mintmark({ store: ":memory:", binary: "" }), /binary names a program/);
});

test("progress is delivered to the reporting call only, before its result", async (t) => {
  const m = await testing(t);
  const heard = [];
  m.on("notification", (notification) => heard.push(notification));
  const accounts = Array.from({ length: 450 }, (_, number) => ({ email: `user${number}@example.com` }));
  const lines = [];
  const result = await m.account.import({ accounts }, { progress: ({ nextLine }) => lines.push(nextLine) });
  assert.equal(result.imported, 450);
  assert.ok(lines.length >= 2 && lines.every((line, index) => index === 0 || line > lines[index - 1]), String(lines));
  assert.deepEqual(heard, []);
});

test("one signal can abort many calls without a leak warning", async (t) => {
  const m = await testing(t);
  const warnings = [];
  const listen = (warning) => warnings.push(warning.name);
  process.on("warning", listen);
  t.after(() => process.off("warning", listen));
  const abort = new AbortController();
  const calls = Array.from({ length: 40 }, () => m.test.outbox({ waitSeconds: 60 }, { signal: abort.signal }));
  abort.abort();
  assert.deepEqual(new Set((await Promise.allSettled(calls)).map(({ reason }) => reason?.name)), new Set(["AbortError"]));
  await m.system.ping();
  assert.deepEqual(warnings, []);
});

test("start rejects after its time limit if the program does not respond", async (t) => {
  const binary = join(folder(t), "silent");
  writeFileSync(binary, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  await assert.rejects(Mintmark.start({ store: ":memory:", binary, timeoutMs: 50, stderr: "ignore" }), (error) => {
    assert.ok(error instanceof CallTimeout);
    assert.equal(error.timeoutMs, 50);
    return true;
  });
});

test("a program that exits without output rejects with advice", async () => {
  await assert.rejects(TestingClient.start({ binary: "/bin/true" }), (error) => {
    assert.ok(error instanceof ProcessEnded);
    assert.match(error.message, /\/bin\/true.*right program\?.*MINTMARK_BINARY/);
    assert.doesNotMatch(error.message, /in memory/);
    return true;
  });
});

test("a backend that returns no token rejects with TypeError", async (t) => {
  const m = await testing(t);
  const { poolId } = await shop(m);
  const { roleArn } = await m.role.put({ name: "shopper", poolId });
  await m.pool.setRoles({ poolId, roles: { authenticated: roleArn } });
  const given = (onTokenRequired) => new CredentialsProvider(m, { poolId, logins: { "login.shop": "alice" }, onTokenRequired }).get();
  for (const [wrong, told] of [[undefined, "undefined"], [null, "object"], ["token", "string"], [{ token: "t" }, "an object with token"]]) {
    await assert.rejects(given(() => wrong), (error) => error instanceof TypeError && error.message.endsWith(`it gave ${told}.`));
  }
  assert.equal((await given(() => mint(m, { poolId }))).state, "ready");
});

test("util.inspect of a client is short and contains no secrets", async (t) => {
  const m = await testing(t, { env: { MINTMARK_MASTER_KEY: "5ec1".repeat(16) } });
  assert.equal(inspect(m), `Mintmark { pid: ${m.pid} }`);
  await m.close();
  assert.equal(inspect(m), "Mintmark { closed }");
});
