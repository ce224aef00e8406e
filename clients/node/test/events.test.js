import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { client, folder } from "./support.js";

test("an iteration returns the events in order, and a new process continues it", async (t) => {
  const m = client(t, { store: join(folder(t), "shop.db") });
  const events = m.follow({ types: ["keysRotated"], after: "0" });
  const rotate = async () => (await m.key.rotate({ tenantId: "default" })).kid;
  const first = await rotate();
  assert.deepEqual([(await events.next()).value].map(({ cursor, kid }) => [cursor, kid]), [["1", first]]);
  const second = await rotate();
  process.kill(m.pid, "SIGKILL");
  assert.deepEqual([(await events.next()).value].map(({ cursor, kid }) => [cursor, kid]), [["2", second]]);
  const waiting = events.next();
  // The call can still go to the killed process, whose end the client may not have noticed, and then fails.
  const third = await rotate().catch(rotate);
  assert.equal((await waiting).value.kid, third);
  await events.return();
  assert.deepEqual(await m.events.unsubscribe(), { ended: false });
});

test("an iteration ends with its signal and with the client", async (t) => {
  const m = client(t);
  const stop = new AbortController();
  const ends = m.follow({ signal: stop.signal }).next();
  setTimeout(() => stop.abort(), 50);
  assert.deepEqual(await ends, { value: undefined, done: true });
  const last = m.follow().next();
  setTimeout(() => m.close(), 50);
  assert.equal((await last).done, true);
});
