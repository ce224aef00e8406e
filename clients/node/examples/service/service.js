// A small HTTP service that trusts the access tokens of one issuer: `GET /orders` with `Authorization: Bearer …`. It requires only Node,
// and no part of Mintmark. service.test.js in the same folder shows how to test such a service.
//
//     node service.js https://id.example.com/tenants/default https://id.example.com/tenants/default/.well-known/jwks.json orders 8080
import { createServer } from "node:http";
import { createPublicKey, verify } from "node:crypto";
import { fileURLToPath } from "node:url";

// The parameters of each algorithm for Node's crypto module (RFC 7518 §3, RFC 8037), and the matching key type.
const algorithms = {
  ES256: { hash: "sha256", kty: "EC", options: { dsaEncoding: "ieee-p1363" } },
  RS256: { hash: "sha256", kty: "RSA", options: {} },
  EdDSA: { hash: null, kty: "OKP", options: {} },
};

/** A rejected request: the HTTP status, and the error code and description as defined by RFC 6750. */
class Refused extends Error {
  constructor(status, error, description) {
    super(description);
    Object.assign(this, { status, error });
  }
}

/**
 * The public keys of an issuer. Keys expire after five minutes, so that a revoked key does not remain trusted. They are also fetched if a
 * token names an unknown key. Only one request runs at a time, with a minimum interval of a few seconds even if the provider is down, so
 * that forged tokens cannot overload it.
 */
class Keys {
  static #lifetimeSeconds = 300;
  #url;
  #secondsBetween;
  #keys = new Map();
  #fetchedAt = -Infinity; // by the clock of the service, in seconds
  #triedAt = -Infinity; // by the clock of the process, in milliseconds
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

/** The claims of the token in an Authorization header. Rejects with Refused if the token is not valid. */
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
  // The key determines the algorithm, not the token.
  if (!jwk || jwk.kty !== algorithm.kty || jwk.alg !== header.alg) throw refuse("Its key or its algorithm is not the issuer's.");
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), ...algorithm.options };
  if (!verify(algorithm.hash, Buffer.from(`${parts[0]}.${parts[1]}`), key, Buffer.from(parts[2], "base64url"))) throw refuse("Its signature is wrong.");
  // ID tokens are intended for the client application, not for this service. RFC 9068 distinguishes them from access tokens by their type.
  // If your provider's access tokens have no such type, check another property that only access tokens have, such as a `scope` claim.
  if (!["at+jwt", "application/at+jwt"].includes(String(header.typ).toLowerCase())) throw refuse("It is no access token.");
  if (claims.iss !== issuer) throw refuse("It is another issuer's.");
  if (![claims.aud].flat().includes(audience)) throw refuse("It is for another audience.");
  if (!(claims.exp > moment - 5)) throw refuse("It has expired.");
  return claims;
}

/** The scopes of a token: a space-separated string in RFC 9068, a list with some providers. */
function scopesOf({ scope }) {
  return typeof scope === "string" ? scope.split(" ") : Array.isArray(scope) ? scope : [];
}

/**
 * Creates a server that is ready to listen.
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
