import assert from "node:assert/strict";
import { test } from "node:test";
import * as mintmark from "../src/index.js";
import { client, mint, program, shop, testing } from "./support.js";

const nowhere = "local-1:00000000-0000-0000-0000-000000000000";

test("an error is an instance of its class, with its data, method and trace", async (t) => {
  const m = await testing(t);
  await assert.rejects(m.pool.get({ poolId: nowhere }, { trace: "t-1" }), (error) => {
    assert.ok(error instanceof mintmark.PoolNotFound);
    assert.equal(error.code, 2001);
    assert.deepEqual(error.data, { type: "poolNotFound", poolId: nowhere });
    assert.equal(error.method, "pool.get");
    assert.equal(error.trace, "t-1");
    assert.match(error.message, /does not exist/);
    assert.match(error.stack, /^PoolNotFound: [^]*errors\.test\.js/);
    return true;
  });
});

test("an invalidParams error contains all violations", async (t) => {
  const m = await testing(t);
  await assert.rejects(m.token.mintForDeveloper({ poolId: "?", logins: {}, durationSeconds: 0, colour: 1 }), (error) => {
    assert.ok(error instanceof mintmark.InvalidParams);
    const found = error.data.violations.map((violation) => violation.pointer).sort();
    assert.deepEqual(found, ["/colour", "/durationSeconds", "/logins", "/poolId"]);
    return true;
  });
});

test("retryAfterSeconds is set only on errors that can be retried", async (t) => {
  const m = client(t, {
    binary: program(t, `answer({ id: request.id, error: { code: 8001, message: "busy", data: { type: "storeBusy", retryAfterSeconds: 1 } } });`),
  });
  await assert.rejects(m.system.ping(), (error) => error instanceof mintmark.StoreBusy && error.retryAfterSeconds === 1);
  const real = await testing(t);
  await assert.rejects(real.pool.get({ poolId: nowhere }), (error) => error.retryAfterSeconds === undefined);
});

test("unknown errors, states and members of a later version are kept", async (t) => {
  const m = client(t, {
    binary: program(
      t,
      `if (request.method === "system.ping") answer({ id: request.id, result: { now: 1, mood: { good: true } } });
       else if (request.method === "identity.get") answer({ id: request.id, result: { state: "asleep" } });
       else answer({ id: request.id, error: { code: 4999, message: "later", data: { type: "fromTheFuture", why: [1] } } });`,
    ),
  });
  assert.deepEqual(await m.system.ping(), { now: 1, mood: { good: true } });
  assert.equal((await m.identity.get({ identityId: nowhere })).state, "asleep");
  await assert.rejects(m.pool.get({ poolId: nowhere }), (error) => {
    assert.equal(error.constructor, mintmark.APIError);
    assert.equal(error.type, "fromTheFuture");
    assert.deepEqual(error.data.why, [1]);
    return true;
  });
});

test("a missing method rejects with BinaryTooOld", async (t) => {
  const old = `answer({ id: request.id, error: { code: -32601, message: "There is no such method.", data: { type: "methodNotFound", method: request.method, nearest: [] } } });`;
  const binary = program(t, old);
  const m = client(t, { binary });
  await assert.rejects(m.audit.verify(), (error) => {
    assert.ok(error instanceof mintmark.BinaryTooOld && !(error instanceof mintmark.APIError));
    assert.equal(error.binary, binary);
    assert.equal(error.method, "audit.verify");
    assert.match(error.message, /does not have the method audit\.verify\. It is older than this client/);
    return true;
  });
  await assert.rejects(mintmark.Mintmark.start({ store: ":memory:", binary }), mintmark.BinaryTooOld);
  await assert.rejects(m.call("any.thing"), (error) => error.constructor === mintmark.MethodNotFound);
});

test("a test method on another store rejects with advice", async (t) => {
  const m = client(t);
  assert.equal(m.test, undefined);
  await assert.rejects(m.call("test.clock"), (error) => error.constructor === mintmark.MethodNotFound && /TestingClient of/.test(error.message));
});

test("the stack of an error begins at the caller", async (t) => {
  const m = await testing(t);
  const first = async (caller) => {
    const { stack, message } = await caller().then(() => assert.fail("no error"), (error) => error);
    const frames = stack.slice(stack.indexOf(message) + message.length).split("\n").slice(1);
    return frames.find((frame) => !frame.includes("node:internal"));
  };
  assert.match(await first(async function typed() { await m.pool.get({ poolId: nowhere }); }), /at async typed .*errors\.test\.js/);
  assert.match(await first(async function named() { await m.call("pool.get", { poolId: nowhere }); }), /at async named .*errors\.test\.js/);
  assert.match(await first(async function page() { await m.identity.list({ poolId: nowhere }); }), /at async page .*errors\.test\.js/);
  assert.match(await first(async function each() { for await (const _ of m.identity.list({ poolId: nowhere })); }), /at async each .*errors\.test\.js/);
  const start = async function starts() { await mintmark.Mintmark.start({ store: ":memory:", binary: "/bin/true" }); };
  assert.match(await first(start), /at async starts .*errors\.test\.js/);
  const signal = AbortSignal.abort();
  assert.match(await first(async function unsent() { await m.system.ping({}, { signal }); }), /at unsent .*errors\.test\.js/);
  assert.match(await first(async function unsentByName() { await m.call("system.ping", {}, { signal }); }), /at unsentByName .*errors\.test\.js/);
});

test("with the caller public, developer methods reject with CallerNotAllowed", async (t) => {
  const m = client(t, { caller: "public" });
  await assert.rejects(shop(m), mintmark.CallerNotAllowed);
});

test("invalid parameters and time limits reject before a request is sent", async (t) => {
  const m = await testing(t);
  await assert.rejects(m.pool.get("local-1"), TypeError);
  await assert.rejects(m.pool.get([]), TypeError);
  await assert.rejects(m.system.ping({}, { timeoutMs: -1 }), TypeError);
  await assert.rejects(mint(m, {}, 1n), TypeError);
  assert.ok((await m.system.ping()).now > 0);
});
