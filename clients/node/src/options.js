// The options of a client, and their conversion to arguments of `mintmark serve`.
import { flags } from "../generated/options.js";
import { checkHooks } from "./hooks.js";

/**
 * The defaults of options that are passed even if omitted. With `parent`, the process exits when this one does, even if another process
 * holds its pipe.
 */
const defaults = { parent: () => (process.platform === "linux" ? process.pid : undefined) };

/** Returns the options with the store of MINTMARK_STORE, or the app of MINTMARK_APP, if they name neither. */
export function placed(options) {
  if (options === null || typeof options !== "object" || options.store !== undefined || options.app !== undefined) return options;
  const { MINTMARK_STORE: store, MINTMARK_APP: app } = process.env;
  return store ? { ...options, store } : app ? { ...options, app } : options;
}

/** Options that the client itself uses. */
const own = ["binary", "arguments", "env", "cwd", "stderr", "restart", "timeoutMs", "hooks"];

/**
 * Validates the options of a client.
 * @throws {TypeError} with the allowed values.
 */
export function check(options) {
  if (options === null || typeof options !== "object") throw new TypeError('new Mintmark takes options, such as { store: "shop.db" }.');
  const unknown = Object.keys(options).filter((name) => !(name in flags) && !own.includes(name));
  if (unknown.length > 0) {
    const known = [...Object.keys(flags), ...own].join(", ");
    throw new TypeError(`Mintmark has no option ${unknown.join(", ")}. It has ${known}; \`arguments\` takes any other flag of \`mintmark serve\`.`);
  }
  if ((options.store === undefined) === (options.app === undefined)) {
    throw new TypeError(
      'Name either a store or an app: { store: "shop.db" } is a file, { store: ":memory:" } ends with the process, ' +
        '{ app: "shop" } is the store of that app in the folder of your data. MINTMARK_STORE and MINTMARK_APP name one, too.',
    );
  }
  checkTimeout(options.timeoutMs);
  checkHooks(options.hooks);
  if (options.binary === "") throw new TypeError("binary names a program; leave it out for MINTMARK_BINARY, the program in the npm package, or mintmark on PATH.");
  const { stderr } = options;
  if (stderr !== undefined && stderr !== "inherit" && stderr !== "ignore" && typeof stderr !== "function") {
    throw new TypeError('stderr is "inherit", "ignore" or a function that takes a line.');
  }
  return options;
}

const ofCalls = ["timeoutMs", "signal", "trace", "progress"];

/**
 * Validates the options of a call. A misspelled option would otherwise have no effect.
 * @param {{name: string, reports?: boolean}} method
 * @throws {TypeError} with the allowed values.
 */
export function checkCall(method, options) {
  if (options === null || typeof options !== "object") throw new TypeError("A call's options are an object, such as { timeoutMs: 1000 }.");
  for (const name in options) {
    if (!ofCalls.includes(name)) throw new TypeError(`A call has no option ${name}. It has ${ofCalls.join(", ")}.`);
  }
  const { timeoutMs, signal, progress } = options;
  checkTimeout(timeoutMs);
  if (signal !== undefined && typeof signal?.addEventListener !== "function") throw new TypeError("signal is an AbortSignal.");
  if (progress !== undefined && typeof progress !== "function") throw new TypeError("progress is a function that takes a value.");
  if (progress && method.reports === false) throw new TypeError(`${method.name} does not report progress. Omit the option progress.`);
}

function checkTimeout(timeoutMs) {
  if (timeoutMs === undefined) return;
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) throw new TypeError("timeoutMs is a positive number of milliseconds.");
}

/** Returns the command line arguments of the program. */
export function toArguments(options) {
  const all = ["serve"];
  for (const [name, flag] of Object.entries(flags)) {
    const value = options[name] ?? defaults[name]?.();
    if (value === undefined || value === false) continue;
    // The form with "=" allows values that begin with "-".
    all.push(value === true ? flag : `${flag}=${value}`);
  }
  return [...all, ...(options.arguments ?? [])];
}

/** Returns the environment of the program, without the variables that name a store: they would take precedence over the options. */
export function toEnvironment(options) {
  const { MINTMARK_STORE, MINTMARK_APP, ...env } = process.env;
  return { ...env, ...options.env };
}

/** The maximum length of a request, in bytes. Infinite if `arguments` sets the limit, because its value is not parsed here. */
export function longestRequest(options) {
  if (options.arguments?.some((argument) => argument.startsWith("--max-line"))) return Infinity;
  return options.maxLineBytes ?? (Number(toEnvironment(options).MINTMARK_MAX_LINE) || 1024 * 1024);
}
