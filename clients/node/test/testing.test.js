import assert from "node:assert/strict";
import { test } from "node:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintmark } from "../src/testing.js";
import { folder } from "./support.js";

test("each test has its own store and virtual clock", async (t) => {
  const [{ m, clock }, other] = [await mintmark(t), await mintmark(t)];
  await m.pool.create({ name: "shop" });
  assert.deepEqual((await other.m.pool.list()).pools, []);
  assert.equal(await clock.freeze(new Date(1_700_000_000_000)), 1_700_000_000);
  assert.equal(await clock.advance(3600), 1_700_003_600);
  assert.equal(await clock.now(), 1_700_003_600);
  assert.ok((await clock.set(1_800_000_000)) >= 1_800_000_000);
  await clock.run();
});

test("the outbox contains the emailed code", async (t) => {
  const { m, outbox } = await mintmark(t);
  const to = "alice@example.com";
  await assert.rejects(outbox.code(to), /No code was sent to alice@example.com\. No messages were sent\./);
  const { continuationToken } = await m.signUp.start({ username: to });
  assert.equal((await m.signUp.submitCode({ continuationToken, code: await outbox.code(to) })).state, "completed");
  await assert.rejects(outbox.code("bob@example.com"), /No code was sent to bob@example.com\. Messages were sent to alice@example.com\./);
  await assert.rejects(outbox.last("bob@example.com"), /No message was sent to bob@example.com\. Messages were sent to alice@example.com\./);
  assert.equal((await outbox.last()).to, to);
  assert.deepEqual(await outbox.messages("bob@example.com"), []);
});

test("the process ends with its test, even if the test fails", (t) => {
  const path = join(folder(t), "it.test.mjs");
  const index = JSON.stringify(new URL("../src/testing.js", import.meta.url));
  writeFileSync(
    path,
    `import { test } from "node:test"; import { mintmark } from ${index};
test("it", async (t) => { const { m } = await mintmark(t, { logLevel: "trace" }); console.error("pid", m.pid); await m.pool.list(); throw new Error("no"); });`,
  );
  // The test runner passes this variable to its child processes.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const ran = spawnSync(process.execPath, ["--test-reporter=tap", path], { encoding: "utf8", timeout: 30_000, env });
  assert.equal(ran.status, 1, ran.stdout + ran.stderr);
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 12)) assert.match(ran.stdout, /^# .*pool\.list/m, "its log is not shown");
  const pid = Number(/pid (\d+)/.exec(ran.stderr + ran.stdout)?.[1]);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("a waiting call does not delay the end of a test, and a missing test context rejects", async (t) => {
  let waiting;
  await t.test("it", async (t) => {
    const { m } = await mintmark(t);
    waiting = m.test.outbox({ waitSeconds: 60 }).then(
      () => "answered",
      (error) => error.name,
    );
  });
  assert.equal(await waiting, "ProcessEnded");
  await assert.rejects(mintmark(), /takes the context of the test/);
});
