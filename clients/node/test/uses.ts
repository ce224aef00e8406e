// This file is compiled but not run. It contains valid uses, and invalid ones that must not compile.
import { APIError, BinaryTooOld, InvalidParams, isKnownError, Mintmark, PoolNotFound, ProcessEnded } from "mintmark";
import { TestingClient } from "mintmark/testing";
import type { ExportProgress, IdentityChange, GraphNode, IdentityState, KnownError, MintmarkOptions, Pool, PoolListResult, PoolSummary, SignUpStep, SignUpStepCompleted, TokenMintForDeveloperParams, TokenMintForDeveloperResult } from "mintmark";

const options: MintmarkOptions = { store: ":memory:", testing: true, clock: 0, stderr: (line) => line.trim() };
const m: Mintmark = await Mintmark.start(options);
new Mintmark({ app: "shop" });
await TestingClient.start();
const tester: TestingClient = await TestingClient.start({ region: "moon-1" });
const now: number = (await tester.test.clock({ advanceSeconds: 1 })).now;
new TestingClient({ app: "shop" });
// @ts-expect-error both
new TestingClient({ store: "a", app: "b" });
// @ts-expect-error a client of another store has no test methods
m.test;
new Mintmark({ testing: true });
// @ts-expect-error both
new Mintmark({ store: "a", app: "b" });
// @ts-expect-error an unknown option
new Mintmark({ store: "a", tseting: true });
// @ts-expect-error an unknown value
new Mintmark({ store: "a", caller: "everybody" });

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

for await (const pool of m.pool.list({ limit: 10 })) {
  const summary: PoolSummary = pool;
  // @ts-expect-error no such member
  pool.pool;
}
for await (const page of m.pool.list().pages()) page.pools.length.toFixed();
const page: PoolListResult = await m.pool.list({}, { timeoutMs: 1 });
// @ts-expect-error only list methods can be iterated over
for await (const each of m.pool.get({ poolId: "p" }));

// A state that a later version adds must also have a type.
const { state } = await m.identity.get({ identityId: "i" });
const anyState: string = state;
// @ts-expect-error it can be a value that is unknown today
const known: IdentityState = state;
const isGuest: boolean = state === "guest";

// The state of a step determines its members.
const step: SignUpStep = await m.signUp.start({ username: "alice@example.com" });
// @ts-expect-error only some states have it
step.codeLength;
// @ts-expect-error no such state
if (step.state === "compelted") step;
switch (step.state) {
  case "codeRequired": {
    const digits: number = step.codeLength;
    // @ts-expect-error another state has it
    step.accountId;
    await m.signUp.submitCode({ continuationToken: step.continuationToken, code: "1".repeat(digits) });
    break;
  }
  case "passwordRequired":
  case "passkeyRequired":
  case "attributesRequired":
    step.continuationToken.trim();
    break;
  case "redirectRequired":
    step.reason.trim();
    break;
  case "completed": {
    const completed: SignUpStepCompleted = step;
    completed.accountId.trim();
    break;
  }
  default: {
    // A state of a later version: its members have no known type.
    const later: string = step.state;
    const member: unknown = step.anything;
  }
}
const signedIn = await m.signIn.withPassword({ username: "alice@example.com", password: "p" });
if (signedIn.state !== "completed") throw new Error(`the next state is ${signedIn.state}`);
const idToken: string = signedIn.idToken;
const enrolling = await m.mfa.enroll({ idToken, kind: "totp" });
if (enrolling.kind === "totp") enrolling.otpauthUri.trim();
const nodes: GraphNode[] = (await m.account.graph({ idToken })).nodes;
for (const node of nodes) if (node.kind === "identity") node.poolId.trim();

try {
  await m.pool.get({ poolId: "p" });
} catch (error) {
  if (error instanceof PoolNotFound) {
    const poolId: string = error.data.poolId;
    const code: number = error.code;
    const type: "poolNotFound" = error.type;
    // @ts-expect-error not in the data of this error
    error.data.identityId;
  }
  if (isKnownError(error) && error.type === "poolNotFound") {
    const poolId: string = error.data.poolId;
    // @ts-expect-error not in the data of this error
    error.data.identityId;
  }
  // @ts-expect-error no such type
  if (isKnownError(error) && error.type === "poolNotFuond") throw error;
  if (isKnownError(error)) describe(error);
  if (error instanceof InvalidParams) for (const violation of error.data.violations) violation.pointer.trim();
  if (error instanceof BinaryTooOld) error.binary.trim();
  if (error instanceof ProcessEnded) error.stderr.join(error.signal ?? "");
  if (error instanceof APIError && error.retryAfterSeconds) error.retryAfterSeconds.toFixed();
}

function describe(error: KnownError): string {
  switch (error.type) {
    case "poolNotFound":
      return error.data.poolId;
    case "tooManyRequests":
      return `${error.retryAfterSeconds} s`;
    default:
      return error.message;
  }
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
await m.account.import({ file: "f" }, { progress: (value) => value.nextLine.toFixed() });
await m.account.export({ file: "f" }, { progress: (value: ExportProgress) => value });
// @ts-expect-error the progress has no such member
await m.account.import({ file: "f" }, { progress: ({ nextLnie }) => nextLnie });
// @ts-expect-error the method does not report progress
await m.pool.list({}, { progress: () => {} });
const byName: { now: number } = await m.call<{ now: number }>("system.ping");
// @ts-expect-error the type of a result is unknown
(await m.call("system.ping")).now;
// @ts-expect-error onTokenRequired is required
new CredentialsProvider(m, { poolId: pool.poolId });
