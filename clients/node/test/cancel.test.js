import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { test } from "node:test";
import { CallCancelled, CallTimeout } from "../src/index.js";
import { client, mint, program, shop, testing } from "./support.js";

/** Stops the process. Returns a function that continues it. */
function stop({ pid }) {
  process.kill(pid, "SIGSTOP");
  return () => process.kill(pid, "SIGCONT");
}

test("a call that exceeds its time limit rejects, and the next call succeeds", async (t) => {
  const m = await testing(t);
  const pool = await shop(m);
  const goOn = stop(m);
  const started = Date.now();
  await assert.rejects(mint(m, pool, "alice", { timeoutMs: 50 }), (error) => {
    assert.ok(error instanceof CallTimeout);
    assert.equal(error.method, "token.mintForDeveloper");
    assert.equal(error.timeoutMs, 50);
    return true;
  });
  assert.ok(Date.now() - started < 5000);
  goOn();
  assert.ok((await mint(m, pool)).token);
});

test("the timeoutMs option of a client applies to calls that set none", async (t) => {
  const m = client(t, { timeoutMs: 50 });
  await m.system.ping({}, { timeoutMs: 60_000 });
  const goOn = stop(m);
  await assert.rejects(m.system.ping(), CallTimeout);
  const patient = Promise.all([Infinity, 1e12].map((timeoutMs) => m.system.ping({}, { timeoutMs })));
  await wait(100);
  goOn();
  assert.equal((await patient).length, 2);
});

test("an aborted call rejects with an AbortError with the signal's reason, and concurrent calls succeed", async (t) => {
  const m = await testing(t);
  const goOn = stop(m);
  const controller = new AbortController();
  const aborted = m.system.ping({}, { signal: controller.signal });
  const beside = m.system.ping();
  controller.abort("enough");
  await assert.rejects(aborted, (error) => {
    assert.ok(error instanceof CallCancelled);
    assert.equal(error.name, "AbortError");
    assert.equal(error.code, "ABORT_ERR");
    assert.equal(error.cause, "enough");
    return true;
  });
  goOn();
  assert.ok((await beside).now > 0);
});

test("a call with an aborted signal is not sent", async (t) => {
  const m = client(t);
  await assert.rejects(m.system.ping({}, { signal: AbortSignal.abort() }), CallCancelled);
  assert.equal(m.pid, undefined);
});

test("an aborted call sends a cancellation with its ID", async (t) => {
  const told = [];
  const m = client(t, {
    binary: program(
      t,
      `if (request.method === "$/cancelRequest") answer({ method: "told", params: request });
       else if (request.method === "system.info") answer({ id: request.id, result: {} });`,
    ),
  });
  m.on("notification", (notification) => told.push(notification.params));
  await assert.rejects(m.system.ping({}, { timeoutMs: 20 }), CallTimeout);
  await m.system.info();
  assert.deepEqual(told, [{ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 1 } }]);
});

test("a completed call leaves no listener on the signal and no timer", async (t) => {
  const m = await testing(t);
  let listeners = 0;
  const signal = { aborted: false, addEventListener: () => listeners++, removeEventListener: () => listeners-- };
  await m.system.ping({}, { signal, timeoutMs: 1e6 });
  assert.equal(listeners, 0);
  assert.ok(!process.getActiveResourcesInfo().includes("Timeout"));
});
