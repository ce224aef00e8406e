// This file is compiled but not run. It contains valid uses, and invalid ones that must not compile.
import { Mintmark, PoolNotFound, InvalidParams, BinaryTooOld, ProcessEnded, RpcError } from "mintmark";
import type { IdentityChange, IdentityState, MintmarkOptions, Pool, TokenMintForDeveloperParams, TokenMintForDeveloperResult } from "mintmark";

const options: MintmarkOptions = { store: ":memory:", testing: true, clock: 0, stderr: (line) => line.trim() };
const m: Mintmark = await Mintmark.start(options);
new Mintmark({ app: "shop" });
await Mintmark.testing();
await Mintmark.testing({ region: "moon-1" });
// @ts-expect-error neither store nor app
new Mintmark({ testing: true });
// @ts-expect-error both
new Mintmark({ store: "a", app: "b" });
// @ts-expect-error an unknown option
new Mintmark({ store: "a", tseting: true });

const pool: Pool = await m.pool.create({ name: "shop", developerProvider: "login.shop", signingAlgorithm: "ES256" });
const params: TokenMintForDeveloperParams = { poolId: pool.poolId, logins: { "login.shop": "alice" } };
const minted: TokenMintForDeveloperResult = await m.token.mintForDeveloper(params, { timeoutMs: 5, trace: "t" });
const seconds: number = minted.expiresAt;
const isNew: boolean = minted.isNewIdentity;
// @ts-expect-error logins are required
await m.token.mintForDeveloper({ poolId: pool.poolId });
// @ts-expect-error a misspelled member
await m.token.mintForDeveloper({ poolID: pool.poolId, logins: {} });
// @ts-expect-error a duration is a number
await m.token.mintForDeveloper({ ...params, durationSeconds: "900" });
// @ts-expect-error parameters accept only known values
await m.pool.create({ name: "shop", signingAlgorithm: "HS256" });
// @ts-expect-error the result has no such member
minted.accessToken;
// @ts-expect-error no such method
await m.token.mint({});

await m.system.ping();
await m.system.ping({}, { timeoutMs: 1 });
await m.token.jwks();
await m.token.verify({ token: "t", audience: "a", issuer: "https://shop.test" });
// @ts-expect-error audience or issuer, at least one
await m.token.verify({ token: "t" });
await m.role.get({ name: "reader" });
// @ts-expect-error name or roleArn, not both
await m.role.get({ name: "reader", roleArn: "arn" });
// @ts-expect-error exactly one is required
await m.role.get({});
await m.key.list();
// @ts-expect-error at most one
await m.key.list({ issuer: "i", poolId: "p" });

// A state that a later version adds must also have a type.
const { state } = await m.identity.get({ identityId: "i" });
const anyState: string = state;
// @ts-expect-error it can be a value that is unknown today
const known: IdentityState = state;
const isGuest: boolean = state === "guest";

try {
  await m.pool.get({ poolId: "p" });
} catch (error) {
  if (error instanceof PoolNotFound) {
    const poolId: string = error.data.poolId;
    const code: 2001 = error.code;
    // @ts-expect-error not in the data of this error
    error.data.identityId;
  }
  if (error instanceof InvalidParams) for (const violation of error.data.violations) violation.pointer.trim();
  if (error instanceof BinaryTooOld) error.binary.trim();
  if (error instanceof ProcessEnded) error.stderr.join(error.signal ?? "");
  if (error instanceof RpcError && error.retryAfterSeconds) error.retryAfterSeconds.toFixed();
}

m.on("notification", ({ method, params }) => [method.trim(), params?.value]);
m.on("notification", ({ method, params }) => {
  if (method === "credentialsProvider/identityChanged") (params as unknown as IdentityChange).newIdentityId.trim();
});
m.on("exit", (error) => error.message);
// @ts-expect-error no such event
m.on("data", () => {});
const close: () => Promise<void> = () => m[Symbol.asyncDispose]();
await m.close({ timeoutMs: 100 });

import { CredentialsProvider } from "mintmark";
const provider = new CredentialsProvider(m, {
  poolId: pool.poolId,
  logins: { "login.shop": "alice" },
  async onTokenRequired(logins, { identityId }) {
    const minted = await m.token.mintForDeveloper({ poolId: pool.poolId, logins, identityId });
    return { identityId: minted.identityId, token: minted.token };
  },
});
const key: string = (await provider.get({ refresh: true })).credentials.accessKeyId;
await m.account.import({ file: "/srv/people.jsonl" }, { progress: ({ nextLine }) => nextLine });
// @ts-expect-error onTokenRequired is required
new CredentialsProvider(m, { poolId: pool.poolId });
