// The identity provider for tests of a service, with a service that verifies tokens with Node's crypto module.
import assert from "node:assert/strict";
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { mintmark } from "../src/testing.js";

const part = (text) => JSON.parse(Buffer.from(text, "base64url"));

/** Verifies an ES256 token; rejects with the reason. */
async function verified(token, { issuer, jwksUrl }, audience) {
  const [header, payload, signature] = token.split(".");
  const { keys } = await (await fetch(jwksUrl)).json();
  const jwk = keys.find(({ kid, alg }) => kid === part(header).kid && alg === "ES256");
  if (!jwk) throw new Error("unknown key");
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  if (!verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))) throw new Error("wrong signature");
  const claims = part(payload);
  if (claims.iss !== issuer) throw new Error("wrong issuer");
  if (claims.aud !== audience) throw new Error("wrong audience");
  if (!(claims.exp > Date.now() / 1000)) throw new Error("expired");
  return claims;
}

/** Starts a service that signs users in at one issuer, and whose API trusts access tokens of this issuer. Returns its URL. */
async function start(t, idp, responseMode) {
  const sessions = new Map();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, base);
    const id = /session=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
    const say = (status, body, headers = {}) => response.writeHead(status, headers).end(JSON.stringify(body));
    const discovery = async () => (await fetch(idp.discoveryUrl)).json();
    try {
      if (url.pathname === "/login") {
        const [session, state, verifier] = [0, 0, 0].map(() => randomBytes(32).toString("hex"));
        sessions.set(session, { state, verifier });
        const query = new URLSearchParams({
          client_id: "shop", response_type: "code", redirect_uri: `${base}/back`, scope: "openid email", state,
          code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256",
          ...(responseMode && { response_mode: responseMode }),
        });
        return say(302, {}, { location: `${(await discovery()).authorization_endpoint}?${query}`, "set-cookie": `session=${session}; Path=/; HttpOnly` });
      }
      if (url.pathname === "/back") {
        const given = request.method === "POST" ? new URLSearchParams(Buffer.concat(await request.toArray()).toString()) : url.searchParams;
        const session = sessions.get(id);
        if (given.get("state") !== session?.state) return say(400, { error: "wrong state" });
        const body = new URLSearchParams({ grant_type: "authorization_code", code: given.get("code"), redirect_uri: `${base}/back`, client_id: "shop", code_verifier: session.verifier });
        const { id_token } = await (await fetch((await discovery()).token_endpoint, { method: "POST", body })).json();
        session.user = await verified(id_token, idp, "shop");
        return say(303, {}, { location: "/me" });
      }
      if (url.pathname === "/me") {
        const user = sessions.get(id)?.user;
        return user ? say(200, { email: user.email, roles: user.roles ?? [] }) : say(401, { error: "not signed in" });
      }
      return say(200, { customer: (await verified(request.headers.authorization.slice(7), idp, idp.audience)).sub });
    } catch (error) {
      return say(401, { error: error.message });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${server.address().port}`;
  t.after(() => new Promise((done) => (server.close(done), server.closeAllConnections())));
  return base;
}

async function setUp(t, responseMode) {
  const all = await mintmark(t);
  const idp = await all.idp();
  const base = await start(t, idp, responseMode);
  const orders = async (token) => (await fetch(`${base}/orders`, { headers: { authorization: `Bearer ${token}` } })).json();
  return { ...all, idp, base, orders };
}

test("a service accepts only valid tokens of the issuer", async (t) => {
  const { idp, orders } = await setUp(t);
  assert.deepEqual(await orders(await idp.token()), { customer: "test-user" });
  assert.deepEqual(await orders(await idp.token({ subject: "alice" })), { customer: "alice" });
  assert.deepEqual(await orders(await idp.token("alice")), { customer: "alice" });
  assert.deepEqual(await orders(await idp.expired("alice")), { error: "expired" });
  assert.deepEqual(await orders(await idp.foreign("alice")), { error: "unknown key" });
  for (const wrong of [["alice"], null, 7]) await assert.rejects(idp.token(wrong), /A token takes a subject, such as "alice", or parameters/);
  assert.deepEqual(await orders(await idp.expired()), { error: "expired" });
  assert.deepEqual(await orders(await idp.foreign()), { error: "unknown key" });
  assert.deepEqual(await orders(await idp.token({ audience: "billing" })), { error: "wrong audience" });
  assert.deepEqual(await orders(await idp.token({ keyState: "wrong" })), { error: "wrong signature" });
});

test("the clock of Mintmark does not move the clock of the service, and an expired token has expired for both", async (t) => {
  const { idp, clock, orders } = await setUp(t);
  const token = await idp.token();
  for (const seconds of [7200, -14400]) {
    await clock.advance(seconds);
    assert.deepEqual(await orders(token), { customer: "test-user" });
    const expired = await idp.expired();
    assert.deepEqual(await orders(expired), { error: "expired" });
    assert.ok(part(expired.split(".")[1]).exp < (await clock.now()));
  }
});

for (const responseMode of [undefined, "form_post"]) {
  test(`a user signs in, response mode ${responseMode ?? "query"}`, async (t) => {
    const { m, idp, base } = await setUp(t, responseMode);
    const response = await idp.login(base, "alice@example.com", { claims: { roles: ["admin"] } });
    assert.deepEqual([response.status, await response.json()], [200, { email: "alice@example.com", roles: ["admin"] }]);
    assert.deepEqual((await m.account.list()).accounts.map(({ email }) => email), ["alice@example.com"]);
  });
}

test("a user signs in with the client of the test", async (t) => {
  const { idp, base } = await setUp(t);
  let cookie = "";
  const client = async (url, init) => {
    const response = await fetch(new URL(url, base), { ...init, headers: { cookie } });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return response;
  };
  assert.equal((await (await idp.login(client, "bob@example.com")).json()).email, "bob@example.com");
  assert.equal((await (await client("/me")).json()).email, "bob@example.com");
});

test("a login that fails says why", async (t) => {
  const { m, idp, base } = await setUp(t);
  await assert.rejects(idp.login(base, "alice@example.com", { path: "/me" }), /\/me does not lead to the provider: .* status 401/);
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const origin = `http://127.0.0.1:${closed.address().port}`;
  closed.close();
  await once(closed, "close");
  await assert.rejects(idp.login(origin, "alice@example.com"), (error) => error.message.startsWith(`${origin} does not answer: `) && error.message.includes("Start the service"));
  const { accountId } = await m.account.create({ username: "dave@example.com" });
  await m.account.update({ accountId, disabled: true });
  await assert.rejects(idp.login(base, "dave@example.com"), /has not signed in dave@example\.com: status \d+, ./);
});
