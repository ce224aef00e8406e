// The conformance driver of the Node client; see ../../conformance/README.md.
import { createInterface } from "node:readline";
import {
  APIError, BinaryNotFound, BinaryTooOld, CallCancelled, CallTimeout, ClientClosed, CredentialsProvider, DeveloperUserAlreadyRegistered,
  HookRefused,
  Mintmark, ProcessEnded, ProtocolError,
} from "../src/index.js";
import { TestingClient } from "../src/testing.js";

const clients = {};
const heard = {};
const calls = {};
const providers = {};
const asked = {};

/** The error that the simulated backend throws. */
class Down extends Error {}

const kinds = [
  [BinaryTooOld, "tooOld"], [APIError, "answered"], [BinaryNotFound, "notFound"], [ProcessEnded, "ended"], [ProtocolError, "garbage"],
  [CallTimeout, "timedOut"], [CallCancelled, "cancelled"], [ClientClosed, "closed"], [Down, "own"], [TypeError, "refused"],
];

function keep(step, client) {
  clients[step.client] = client;
  heard[step.client] = [];
  client.on("notification", (notification) => heard[step.client].push(notification));
}

/** Calls the typed method if it exists; otherwise calls the method by its name, so that invalid names reach the process. */
function call(step, signal) {
  const client = clients[step.client];
  const { timeoutSeconds, trace } = step;
  const options = { timeoutMs: timeoutSeconds ? timeoutSeconds * 1000 : undefined, signal, trace: trace ?? undefined };
  const [namespace, verb] = step.method.split(".");
  const methods = Object.hasOwn(client, namespace) ? client[namespace] : {};
  if (typeof methods[verb] === "function") return methods[verb](step.params, options);
  return client.call(step.method, step.params, options);
}

function strange(step) {
  const cycle = {};
  cycle.itself = cycle;
  let deep = [];
  for (let level = 0; level < 70; level++) deep = [deep];
  const value = {
    nan: NaN, infinity: Infinity, cycle, surrogate: "\ud800", date: new Date(), function: () => 1, bytes: new Uint8Array([255]), set: new Set([1, 2]),
    bigint: 2n ** 70n, deep,
  }[step.value];
  return clients[step.client].account.setClaims({ accountId: "a", claims: { value } });
}

/** Performs `calls` calls with `atOnce` concurrent callers, and returns the elapsed time in seconds. */
async function bench({ client, method, params, calls, atOnce }) {
  const [namespace, verb] = method.split(".");
  const methods = clients[client][namespace];
  let left = calls;
  async function caller() {
    while (left-- > 0) await methods[verb](params);
  }
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, caller));
  return (performance.now() - began) / 1000;
}

function openProvider(step) {
  const client = clients[step.client];
  const state = { backend: step.backend, asked: [] };
  const { poolId } = step.params;
  async function onTokenRequired(logins, { identityId }) {
    state.asked.push(logins);
    if (state.backend === "fails") throw new Down("the backend is down");
    if (state.backend === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
    try {
      return await client.token.mintForDeveloper({ poolId, logins, identityId });
    } catch (error) {
      if (!(error instanceof DeveloperUserAlreadyRegistered)) throw error;
      return client.token.mintForDeveloper({ poolId, logins });
    }
  }
  state.provider = new CredentialsProvider(client, { ...step.params, onTokenRequired });
  providers[step.provider] = state;
}

const behaviors = {
  allows: () => undefined,
  changes: () => ({
    displayName: "Hooked",
    photoUrl: "https://example.com/hooked.png",
    emailVerified: true,
    claims: { role: "staff" },
    sessionClaims: { desk: 7 },
  }),
  refuses: () => {
    throw new HookRefused("not on the list");
  },
  fails: () => {
    throw new Down("the directory is down");
  },
};

function hooksOf(step) {
  asked[step.client] = [];
  const hook = (behavior) => async ({ hook, ...params }) => {
    asked[step.client].push({ hook, params });
    if (behavior === "calls") await clients[step.client].account.find({ username: params.account.username });
    return (behaviors[behavior] ?? behaviors.allows)();
  };
  return step.hooks && Object.fromEntries(Object.entries(step.hooks).map(([name, behavior]) => [name, hook(behavior)]));
}

const steps = {
  open: (step) => {
    const { store, app, testing, binary, arguments: more, restart, timeoutSeconds } = step;
    const timeoutMs = timeoutSeconds && timeoutSeconds * 1000;
    const Client = testing && (store || app) ? TestingClient : Mintmark;
    keep(step, new Client({ store, app, testing, binary, arguments: more, restart, timeoutMs, hooks: hooksOf(step), stderr: "ignore" }));
  },
  testing: async (step) => keep(step, await TestingClient.start({ stderr: "ignore" })),
  call: (step) => call(step),
  many: (step) => Promise.all(step.params.map((params) => carryOut({ ...step, do: "call", params }))),
  begin: (step) => {
    const controller = new AbortController();
    const then = { ...step, do: step.then ?? "call", signal: controller.signal };
    calls[step.call] = { controller, outcome: carryOut(then) };
  },
  cancel: (step) => calls[step.call].controller.abort(),
  bench,
  strange,
  "hooks.asked": (step) => asked[step.client],
  notifications: (step) => heard[step.client],
  left: () => process.getActiveResourcesInfo().filter((name) => name !== "Immediate").length,
  close: (step) => clients[step.client]?.close({ timeoutMs: step.graceSeconds ? step.graceSeconds * 1000 : undefined }),
  "provider.open": openProvider,
  "provider.get": (step) => providers[step.provider].provider.get({ refresh: step.refresh ?? false }),
  "provider.identityId": (step) => providers[step.provider].provider.identityId(),
  "provider.setLogins": (step) => providers[step.provider].provider.setLogins(step.logins),
  "provider.clearCredentials": (step) => providers[step.provider].provider.clearCredentials(),
  "provider.clearKeychain": (step) => providers[step.provider].provider.clearKeychain(),
  "provider.close": (step) => providers[step.provider].provider.close(),
  "provider.asked": (step) => providers[step.provider].asked,
  "provider.backend": (step) => void (providers[step.provider].backend = step.backend),
};

async function carryOut(step) {
  if (step.do === "await") return calls[step.call].outcome;
  try {
    const run = step.do === "call" ? () => call(step, step.signal) : () => steps[step.do](step);
    return { result: (await run()) ?? null };
  } catch (error) {
    const kind = kinds.find(([Kind]) => error instanceof Kind)?.[1];
    if (!kind) return { fault: error.stack };
    const { code, type, data, trace } = error;
    return { error: { kind, class: error.constructor.name, message: error.message, code, type, data, trace } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await carryOut(JSON.parse(line))) + "\n");
}
