// A small HTTP service that trusts the access tokens of one issuer: `GET /orders` with `Authorization: Bearer …`. It needs Node alone, and
// nothing of Mintmark: service.test.js beside it shows how such a service is tested.
//
//     node service.js https://id.example.com/tenants/default https://id.example.com/tenants/default/.well-known/jwks.json orders 8080
import { createServer } from "node:http";
import { createPublicKey, verify } from "node:crypto";
import { fileURLToPath } from "node:url";

// What Node's cryptography needs to know of each algorithm (RFC 7518 section 3, RFC 8037), and the kind of key that goes with it.
const algorithms = {
  ES256: { hash: "sha256", kty: "EC", options: { dsaEncoding: "ieee-p1363" } },
  RS256: { hash: "sha256", kty: "RSA", options: {} },
  EdDSA: { hash: null, kty: "OKP", options: {} },
};

/** A request that is not served: the HTTP status, and the words of RFC 6750 for it. */
class Refused extends Error {
  constructor(status, error, description) {
    super(description);
    Object.assign(this, { status, error });
  }
}

/**
 * The public keys of an issuer. They are good for five minutes, so that one that was revoked is not trusted for ever. They are fetched again also
 * when a token names one that is not known, but one request at a time and not more often than every few seconds, also when the provider is
 * down: whoever sends made-up tokens does not make it busy.
 */
class Keys {
  static #lifetimeSeconds = 300;
  #url;
  #secondsBetween;
  #keys = new Map();
  #fetchedAt = -Infinity; // by the time of the service, in seconds
  #triedAt = -Infinity; // by that of the process, in milliseconds
  #hasFailed = false;
  #underway;

  constructor(url, secondsBetween) {
    this.#url = url;
    this.#secondsBetween = secondsBetween;
  }

  async get(kid, now) {
    if (this.#isOld(now) || !this.#keys.has(kid)) await this.#fetchAgain(now);
    if (this.#isOld(now) || (this.#hasFailed && !this.#keys.has(kid))) throw new Refused(503, undefined, "The keys of the issuer cannot be fetched just now.");
    return this.#keys.get(kid);
  }

  #isOld(now) {
    return Math.abs(now - this.#fetchedAt) >= Keys.#lifetimeSeconds;
  }

  #fetchAgain(now) {
    if (!this.#underway && performance.now() - this.#triedAt >= this.#secondsBetween * 1000) {
      this.#triedAt = performance.now();
      this.#underway = this.#fetch()
        .then((keys) => ([this.#keys, this.#fetchedAt, this.#hasFailed] = [keys, now, false]), () => (this.#hasFailed = true))
        .finally(() => (this.#underway = undefined));
    }
    return this.#underway;
  }

  async #fetch() {
    const answer = await fetch(this.#url, { signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return new Map((await answer.json()).keys.map((jwk) => [jwk.kid, jwk]));
  }
}

function read(part) {
  try {
    return Object(JSON.parse(Buffer.from(part, "base64url")));
  } catch {
    throw new Refused(401, "invalid_token", "It is no signed JSON Web Token.");
  }
}

/** The claims of the token in an Authorization header. Rejects with Refused. */
async function claimsOf(authorization, { issuer, audience, keys, now }) {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!token) throw new Refused(401, undefined, "Send an access token: Authorization: Bearer …");
  const refuse = (description) => new Refused(401, "invalid_token", description);
  const parts = token.split(".");
  if (parts.length !== 3) throw refuse("It is no signed JSON Web Token.");
  const [header, claims] = parts.slice(0, 2).map(read);
  const moment = await now();
  const algorithm = Object.hasOwn(algorithms, header.alg) ? algorithms[header.alg] : undefined;
  const jwk = algorithm && (await keys.get(header.kid, moment));
  // The key says which algorithm it is for, not the token.
  if (!jwk || jwk.kty !== algorithm.kty || jwk.alg !== header.alg) throw refuse("Its key or its algorithm is not the issuer's.");
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), ...algorithm.options };
  if (!verify(algorithm.hash, Buffer.from(`${parts[0]}.${parts[1]}`), key, Buffer.from(parts[2], "base64url"))) throw refuse("Its signature is wrong.");
  // ID tokens are for the app that signs people in. RFC 9068 tells the two apart by their type. If your provider's access tokens have none of their
  // own, check instead what else they alone have, such as a claim scope.
  if (!["at+jwt", "application/at+jwt"].includes(String(header.typ).toLowerCase())) throw refuse("It is no access token.");
  if (claims.iss !== issuer) throw refuse("It is another issuer's.");
  if (![claims.aud].flat().includes(audience)) throw refuse("It is for another audience.");
  if (!(claims.exp > moment - 5)) throw refuse("It has expired.");
  return claims;
}

/** What a token allows: RFC 9068 has names with spaces between them, some providers a list. */
function scopesOf({ scope }) {
  return typeof scope === "string" ? scope.split(" ") : Array.isArray(scope) ? scope : [];
}

/**
 * A server that is ready to listen.
 * @param {{issuer: string, jwksUrl: string, audience: string, secondsBetween?: number, now?: () => number | Promise<number>}} options
 */
export function service({ issuer, jwksUrl, audience, secondsBetween = 10, now = () => Date.now() / 1000 }) {
  const settings = { issuer, audience, now, keys: new Keys(jwksUrl, secondsBetween) };
  return createServer(async (request, response) => {
    const answer = (status, body, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    try {
      const claims = await claimsOf(request.headers.authorization, settings);
      if (!scopesOf(claims).includes("orders:read")) throw new Refused(403, "insufficient_scope", "This needs the scope orders:read.");
      answer(200, { orders: [], customer: claims.sub });
    } catch (error) {
      if (!(error instanceof Refused)) return answer(500, { error: "The request failed." });
      const words = error.error ? `Bearer error="${error.error}", scope="orders:read"` : "Bearer";
      answer(error.status, { error: error.message }, error.status === 503 ? { "retry-after": "5" } : { "www-authenticate": words });
    }
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [issuer, jwksUrl, audience, port] = process.argv.slice(2);
  service({ issuer, jwksUrl, audience }).listen(Number(port), "127.0.0.1");
}
