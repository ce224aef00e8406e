import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { conceal } from "../src/secrets.js";
import { mint, shop, testing } from "./support.js";

test("util.inspect hides secrets, which remain readable and are written to JSON", async (t) => {
  const m = await testing(t);
  const pool = await shop(m);
  const { roleArn } = await m.role.put({ name: "reader", poolId: pool.poolId });
  await m.pool.setRoles({ poolId: pool.poolId, roles: { authenticated: roleArn } });
  const minted = await mint(m, pool);
  const bought = await m.credentials.get({ token: minted.token });
  const { secretAccessKey, sessionToken, accessKeyId } = bought.credentials;
  for (const secret of [minted.token, secretAccessKey, sessionToken]) {
    assert.ok(secret.length > 20);
    assert.ok(!inspect({ minted, list: [bought] }, { depth: 9 }).includes(secret));
    assert.ok(JSON.stringify([minted, bought]).includes(secret));
  }
  const shown = inspect(bought);
  assert.match(shown, /secretAccessKey: \[secret\]/);
  assert.ok(shown.includes(accessKeyId));
  const named = await m.call("token.mintForDeveloper", { poolId: pool.poolId, logins: { "login.shop": "alice" } });
  assert.match(inspect(named), /token: \[secret\]/);
  assert.match(inspect(await m.call("test.token", { issuer: (await m.test.idp()).issuer, subject: "alice", audience: "shop" })), /token: \[secret\]/);
  assert.deepEqual(Object.keys(minted), ["identityId", "token", "expiresAt", "isNewIdentity"]);
});

test("a path leads through arrays and free-form objects and ignores missing members", () => {
  const value = { users: [{ keys: { a: "s1", b: "s2" } }, {}], words: ["s3"], none: null };
  conceal(value, [["users", "*", "keys", "*"], ["words", "*"], ["none", "x"], ["absent", "x"]]);
  assert.equal(
    inspect(value, { depth: 9, breakLength: Infinity }),
    "{ users: [ { keys: { a: [secret], b: [secret] } }, {} ], words: [ [secret] ], none: null }",
  );
});
