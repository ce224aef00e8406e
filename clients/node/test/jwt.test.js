import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { mint, shop, testing } from "./support.js";

// The parameters of each algorithm for Node's crypto module (RFC 7518 §3, RFC 8037).
const algorithms = {
  ES256: ["sha256", { dsaEncoding: "ieee-p1363" }],
  RS256: ["sha256", {}],
  RS512: ["sha512", {}],
  EdDSA: [null, {}],
};

for (const [signingAlgorithm, [hash, options]] of Object.entries(algorithms)) {
  test(`a token signed with ${signingAlgorithm} verifies with Node's crypto module and the keys of token.jwks`, async (t) => {
    const m = await testing(t);
    const pool = await shop(m, { signingAlgorithm });
    const { token, identityId } = await mint(m, pool);
    const [header, payload, signature] = token.split(".");
    const read = (part) => JSON.parse(Buffer.from(part, "base64url"));
    const { keys } = await m.token.jwks({ issuer: pool.issuer });
    const jwk = keys.find((key) => key.kid === read(header).kid);
    assert.equal(jwk.alg, signingAlgorithm);
    const key = { key: createPublicKey({ key: jwk, format: "jwk" }), ...options };
    const good = Buffer.from(signature, "base64url");
    assert.ok(verify(hash, Buffer.from(`${header}.${payload}`), key, good));
    assert.ok(!verify(hash, Buffer.from(`${header}.${payload}x`), key, good));
    assert.equal(read(payload).sub, identityId);
    assert.equal(read(payload).iss, pool.issuer);
  });
}
