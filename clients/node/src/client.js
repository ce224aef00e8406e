import { EventEmitter, setMaxListeners } from "node:events";
import { resolve } from "node:path";
import { errorsByCode, MethodNotFound } from "../generated/errors.js";
import { namespaces } from "../generated/namespaces.js";
import { BinaryNotFound, CallAborted, CallTimedOut, ClientClosed, RpcError } from "./errors.js";
import { check, checkCall } from "./options.js";
import { ServerProcess } from "./process.js";
import { conceal } from "./secrets.js";
import { BinaryTooOld } from "./too-old.js";

/** The maximum delay of setTimeout, 24 days. A longer delay would expire immediately. */
const longestTimer = 2 ** 31 - 1;

/** Raises the listener limit, because one signal can abort many calls: Node warns of a leak above ten listeners. */
function listen(signal, abort) {
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener("abort", abort, { once: true });
}

/**
 * A Mintmark process and its methods, such as `m.token.mintForDeveloper({…})`. The first call starts the process.
 *
 * An open client without waiting calls does not keep Node running. The process ends with Node.
 */
export class Mintmark extends EventEmitter {
  #options;
  #cwd;
  #process = null;
  #closing = null;

  /** Starts the process and waits for its first response. */
  static async start(options) {
    const client = new this(options);
    try {
      await client.system.ping();
    } catch (error) {
      // There are no calls in flight to wait for.
      await client.close({ timeoutMs: 0 });
      throw error;
    }
    return client;
  }

  /** Starts a process with an empty testing store in memory. */
  static testing(options) {
    return this.start({ store: ":memory:", testing: true, ...options });
  }

  constructor(options) {
    super();
    check(options);
    this.#options = { ...options };
    // Relative paths of the store and the program must not change after process.chdir.
    this.#cwd = resolve(options.cwd ?? ".");
    const call = (method, params, options) => this.#call(method, params, options);
    for (const [name, Methods] of Object.entries(namespaces)) this[name] = new Methods(call);
  }

  /** The ID of the process; undefined if none is running. */
  get pid() {
    return this.#process?.isUsable ? this.#process.pid : undefined;
  }

  /** Calls a method by its name. Use this for methods that this client does not know. */
  call(method, params, options) {
    return this.#call({ name: method, secrets: [] }, params, options);
  }

  /** Lets the process finish the requests that it has received, then waits for its exit. Later calls reject. */
  close({ timeoutMs = 10_000 } = {}) {
    this.#closing ??= Promise.resolve(this.#process?.close(timeoutMs));
    return this.#closing;
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  // Errors are created in this function, so that their stack contains the caller.
  async #call(method, params = {}, options = {}) {
    if (params === null || typeof params !== "object" || Array.isArray(params)) {
      throw new TypeError(`${method.name} takes an object of named parameters.`);
    }
    checkCall(options);
    const { timeoutMs = this.#options.timeoutMs, signal, trace, progress } = options;
    // Awaits only if a process has ended, so that calls are sent in the order in which they are made.
    const process = this.#usable(method.name, signal) ?? (await this.#afterDeath(method.name, signal));
    const { outcome, cancel } = process.request({ method: method.name, params, trace }, progress);
    const abort = () => cancel({ failure: () => new CallAborted(method.name, signal.reason) });
    const expire = () => cancel({ failure: () => new CallTimedOut(method.name, timeoutMs) });
    if (signal) listen(signal, abort);
    const timer = timeoutMs > longestTimer || timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
    const answer = await outcome;
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);

    if (answer.failure) throw answer.failure(this.#advice, method.name);
    if (answer.error) throw this.#error(method, { ...answer.error, method: method.name, trace: answer.trace }, process);
    return conceal(answer.result, method.secrets);
  }

  /** The process; started if there is none. Undefined if a process has ended and must not be replaced. */
  #usable(method, signal) {
    if (this.#closing) throw new ClientClosed(method);
    if (signal?.aborted) throw new CallAborted(method, signal.reason);
    if (this.#process?.isUsable) return this.#process;
    if (this.#process && !this.#restarts) return undefined;
    return this.#spawn();
  }

  async #afterDeath(method, signal) {
    const dead = this.#process;
    await dead.ended;
    const error = dead.outcome.failure(this.#advice, method);
    // If the program was never started, no data were lost.
    if (!(error instanceof BinaryNotFound)) throw error;
    if (!this.#process.isUsable) this.#spawn();
    return this.#usable(method, signal);
  }

  #spawn() {
    const listeners = {
      onNotification: (notification) => this.emit("notification", notification),
      onEnd: (outcome) => this.#closing || this.emit("exit", outcome.failure(this.#advice)),
    };
    this.#process = new ServerProcess(this.#options, this.#cwd, listeners);
    return this.#process;
  }

  /** Whether a process that has ended is replaced by a new one, because its data still exist. */
  get #restarts() {
    return this.#options.restart ?? this.#options.store !== ":memory:";
  }

  /** Omits the environment and the options, which can contain secrets. */
  [Symbol.for("nodejs.util.inspect.custom")]() {
    return `Mintmark { ${this.#closing ? "closed" : this.pid === undefined ? "no process" : `pid: ${this.pid}`} }`;
  }

  get #advice() {
    if (this.#closing) return "";
    if (this.#restarts) return "The next call starts a new process.";
    if (this.#options.store !== ":memory:") return "This client starts no other, as { restart: false } has it: make a new client.";
    return "What was in memory is gone: make a new client, or one with { restart: true } that goes on with an empty store.";
  }

  #error(method, error, process) {
    const Known = errorsByCode.get(error.code) ?? RpcError;
    if (Known !== MethodNotFound || method.isTesting === undefined) return new Known(error);
    if (!method.isTesting || this.#options.testing) return new BinaryTooOld(error, process.binary);
    return new Known({ ...error, message: `${method.name} is offered by testing processes only: pass { testing: true }.` });
  }
}
