// Hooks: functions of the application that decide about accounts, sessions and messages. hooks.d.ts describes them.
import { MintmarkError } from "./errors.js";

export const hookNames = ["beforeCreate", "beforeSignIn", "beforeSendMessage"];

export class HookRefused extends MintmarkError {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/** @throws {TypeError} unless `hooks` is an object of functions with the names of hooks. */
export function checkHooks(hooks) {
  if (hooks === undefined) return;
  if (hooks === null || typeof hooks !== "object") throw new TypeError("hooks is an object of functions: { hooks: { beforeSignIn: (request) => … } }.");
  for (const [name, hook] of Object.entries(hooks)) {
    if (!hookNames.includes(name)) throw new TypeError(`There is no hook ${name}. There are ${hookNames.join(", ")}.`);
    if (hook !== undefined && typeof hook !== "function") throw new TypeError(`hooks.${name} is a function that takes a request.`);
  }
}

/** Returns the names of the hooks that have a function. */
export const offeredHooks = (hooks = {}) => hookNames.filter((name) => hooks[name]);

/** Returns the text of the response to a request of the process. Never rejects. */
export async function answerTo(hooks, { id, method, params }) {
  const name = method.replace(/^hook\//, "");
  const respond = (outcome) => JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  const hook = Object.hasOwn(hooks ?? {}, name) ? hooks[name] : undefined;
  if (!hook) return respond({ error: { code: -32601, message: `This client has no function for ${method}.` } });
  try {
    return respond({ result: (await hook({ hook: name, ...params })) ?? null });
  } catch (error) {
    if (error instanceof HookRefused) return respond({ result: { refuse: error.reason } });
    return respond({ error: { code: -32603, message: String(error?.message ?? error) } });
  }
}
