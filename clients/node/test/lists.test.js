import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientClosed, PoolNotFound } from "../src/index.js";
import { client, program, testing } from "./support.js";

const nowhere = "local-1:00000000-0000-0000-0000-000000000000";

/** Returns a client with five pools. */
async function pools(t) {
  const m = await testing(t);
  for (const name of ["a", "b", "c", "d", "e"]) await m.pool.create({ name });
  return m;
}

test("iteration over a list returns all items, and pages() all pages", async (t) => {
  const m = await pools(t);
  const names = [];
  for await (const pool of m.pool.list({ limit: 2 })) names.push(pool.name);
  assert.deepEqual(names.sort(), ["a", "b", "c", "d", "e"]);
  const sizes = [];
  for await (const page of m.pool.list({ limit: 2 }).pages()) sizes.push(page.pools.length);
  assert.deepEqual(sizes, [2, 2, 1]);
});

test("a list without parameters, a list by name and an empty list can be iterated over", async (t) => {
  const m = await pools(t);
  const count = async (list) => {
    let items = 0;
    for await (const _ of list) items++;
    return items;
  };
  assert.equal(await count(m.pool.list()), 5);
  assert.equal(await count(m.call("pool.list", { limit: 1 })), 5);
  assert.equal(await count(m.role.list()), 0);
});

test("awaiting a list returns one page, which is a plain object", async (t) => {
  const m = await pools(t);
  const list = m.pool.list({ limit: 2 });
  assert.ok(list instanceof Promise);
  const page = await list;
  assert.equal(Object.getPrototypeOf(page), Object.prototype);
  assert.deepEqual(Object.keys(page), ["pools", "nextCursor"]);
  const rest = await m.pool.list({ cursor: page.nextCursor });
  assert.equal(rest.pools.length, 3);
  // The same list can be iterated over after its page was awaited.
  let items = 0;
  for await (const _ of list) items++;
  assert.equal(items, 5);
});

test("a page is requested when its first item is needed", async (t) => {
  let requests = 0;
  const m = client(t, {
    binary: program(
      t,
      `const number = Number(request.params.cursor ?? 0);
       answer({ method: "requested", params: request.params });
       answer({ id: request.id, result: { pools: [{ name: "x" + number }], nextCursor: number < 9 ? String(number + 1) : undefined } });`,
    ),
  });
  m.on("notification", () => requests++);
  const names = [];
  for await (const { name } of m.pool.list({ limit: 1 })) {
    names.push(name);
    if (names.length === 3) break;
  }
  await m.system.ping();
  assert.deepEqual(names, ["x0", "x1", "x2"]);
  assert.equal(requests, 4);
});

test("an error of any page ends the iteration", async (t) => {
  const m = await pools(t);
  const iterate = async (list, each = () => {}) => {
    for await (const item of list) await each(item);
  };
  await assert.rejects(iterate(m.identity.list({ poolId: nowhere })), PoolNotFound);
  await assert.rejects(iterate(m.pool.list({ limit: 2 }), () => m.close()), ClientClosed);
});

test("every page has the options of the call", async (t) => {
  const m = await pools(t);
  const controller = new AbortController();
  const names = [];
  await assert.rejects(async () => {
    for await (const { name } of m.pool.list({ limit: 2 }, { signal: controller.signal })) {
      names.push(name);
      controller.abort();
    }
  }, { name: "AbortError" });
  assert.equal(names.length, 2);
});
