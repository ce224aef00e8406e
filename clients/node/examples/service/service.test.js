// Shows how to test a service that trusts Mintmark's tokens. Run it with `node --test`; it requires only the client. In your own project,
// the second import is "mintmark/testing".
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { mintmark } from "../../src/testing.js";
import { service } from "./service.js";

/** A provider with one account, and helper functions for the tests. */
async function setUp(t) {
  const { m, clock, idp: startProvider } = await mintmark(t);
  await clock.freeze();
  const idp = await startProvider({ audience: "orders" });
  const { accountId } = await m.account.create({ username: "alice@example.com", password: "a-long-enough-passphrase-77" });
  const token = (more) => idp.token({ subject: accountId, claims: { scope: "orders:read" }, ...more });
  /** Starts a new service that has not fetched any keys. It uses the provider's virtual clock, so that the test can advance its time. */
  const start = async (more) => {
    const server = service({ issuer: idp.issuer, jwksUrl: idp.jwksUrl, audience: idp.audience, secondsBetween: 0, now: () => clock.now(), ...more });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => new Promise((done) => (server.close(done), server.closeAllConnections())));
    return async (bearer) => {
      const answer = await fetch(`http://127.0.0.1:${server.address().port}/orders`, { headers: bearer ? { authorization: `Bearer ${bearer}` } : {} });
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    };
  };
  return { m, clock, idp, accountId, token, start, get: await start() };
}

test("a token from a browser sign-in is accepted", async (t) => {
  const { idp, accountId, get } = await setUp(t);
  const redirect_uri = "http://localhost/back";
  const query = { client_id: "shop", response_type: "code", redirect_uri, scope: "openid orders:read", resource: "orders" };
  const form = { step: "address", email: "alice@example.com", password: "a-long-enough-passphrase-77" };
  // Simulates the login page in a browser: posts the form to the address of the page.
  const sentBack = await fetch(`${idp.issuer}/authorize?${new URLSearchParams(query)}`, { method: "POST", body: new URLSearchParams(form), redirect: "manual" });
  const code = new URL(sentBack.headers.get("location")).searchParams.get("code");
  const body = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri, client_id: "shop" });
  const { access_token } = await (await fetch(`${idp.issuer}/token`, { method: "POST", body })).json();
  const { status, body: orders } = await get(access_token);
  assert.deepEqual([status, orders], [200, { orders: [], customer: accountId }]);
});

test("an expired token is rejected", async (t) => {
  const { clock, token, get } = await setUp(t);
  const bearer = await token();
  assert.equal((await get(bearer)).status, 200);
  await clock.advance(3606);
  const { status, body } = await get(bearer);
  assert.deepEqual([status, body.error], [401, "It has expired."]);
});

test("an expired token and a token of another issuer are rejected by a service that uses the real time", async (t) => {
  const { clock, idp, start, token } = await setUp(t);
  const get = await start({ now: undefined });
  const more = { claims: { scope: "orders:read" } };
  for (const seconds of [0, 7200]) {
    // The clock of Mintmark does not change the clock of this service.
    await clock.advance(seconds);
    assert.deepEqual((await get(await idp.expired(more))).body, { error: "It has expired." });
    assert.equal((await get(await idp.foreign(more))).status, 401);
  }
  assert.equal((await get(await token())).status, 200);
});

test("a token for another audience, a token without the scope and a missing token are rejected", async (t) => {
  const { token, get } = await setUp(t);
  const other = await get(await token({ audience: "invoices" }));
  assert.deepEqual([other.status, other.body.error], [401, "It is for another audience."]);
  assert.match(other.headers.get("www-authenticate"), /^Bearer error="invalid_token"/);
  assert.equal((await get(await token({ claims: { scope: "openid" } }))).status, 403);
  assert.equal((await get()).status, 401);
});

test("tokens signed with the old and the new key are accepted after a key rotation", async (t) => {
  const { m, token, get } = await setUp(t);
  const old = await token();
  assert.equal((await get(old)).status, 200); // the service has now fetched only the old key
  await m.key.rotate({ tenantId: "default", activateAfterSeconds: 0 });
  assert.equal((await get(await token())).status, 200);
  assert.equal((await get(old)).status, 200);
});

test("a revoked key is rejected after five minutes", async (t) => {
  const { m, clock, token, get } = await setUp(t);
  const old = await token();
  assert.equal((await get(old)).status, 200);
  await m.key.revoke({ kid: JSON.parse(Buffer.from(old.split(".")[0], "base64url")).kid });
  await clock.advance(301);
  const { status, body } = await get(old);
  assert.deepEqual([status, body.error], [401, "Its key or its algorithm is not the issuer's."]);
});

test("an ID token is rejected, and a scope can be a list", async (t) => {
  const { token, get } = await setUp(t);
  const { status, body } = await get(await token({ use: "id" }));
  assert.deepEqual([status, body.error], [401, "It is no access token."]);
  assert.equal((await get(await token({ claims: { scope: ["openid", "orders:read"] } }))).status, 200);
  for (const scope of [[], 7, { "orders:read": true }, null]) assert.equal((await get(await token({ claims: { scope } }))).status, 403, JSON.stringify(scope));
});

test("a provider that is down is requested only once per interval", async (t) => {
  const { token, start } = await setUp(t);
  let asked = 0;
  const down = createServer((_, response) => (asked++, response.writeHead(500).end())).listen(0, "127.0.0.1");
  await once(down, "listening");
  t.after(() => new Promise((done) => (down.close(done), down.closeAllConnections())));
  const get = await start({ jwksUrl: `http://127.0.0.1:${down.address().port}/`, secondsBetween: 3600 });
  const bearer = await token();
  const answers = await Promise.all(Array.from({ length: 10 }, () => get(bearer)));
  assert.deepEqual([answers.map(({ status }) => status), asked], [Array(10).fill(503), 1]);
});

test("forged tokens are rejected", async (t) => {
  const { token, get } = await setUp(t);
  for (const more of [{ keyState: "wrong" }, { keyState: "unknown" }, { header: { alg: "none" } }, { header: { alg: "HS256" } }, { claims: { iss: "https://evil.example" } }]) {
    assert.equal((await get(await token(more))).status, 401, JSON.stringify(more));
  }
  for (const rubbish of ["rubbish", "a.b.c", "..", "e30.e30.e30", "bnVsbA.bnVsbA.x"]) assert.equal((await get(rubbish)).status, 401, rubbish);
});

test("if the provider is down, the service uses fetched keys and otherwise returns 503", async (t) => {
  const { m, token, get, start } = await setUp(t);
  const [bearer, fresh] = [await token(), await start()];
  assert.equal((await get(bearer)).status, 200);
  await m.test.idp({ stop: true });
  assert.equal((await get(bearer)).status, 200); // this service has fetched the keys
  const { status, headers } = await fresh(bearer); // this service has just started and has no keys
  assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
  await m.test.idp();
  assert.equal((await fresh(bearer)).status, 200);
  await m.test.enqueue({ error: { code: "server_error", endpoint: "jwks" } });
  const third = await start();
  assert.deepEqual([(await third(bearer)).status, (await third(bearer)).status], [503, 200]);
});
