import { EventEmitter, setMaxListeners } from "node:events";
import { resolve } from "node:path";
import { MethodNotFound } from "../generated/errors.js";
import { methods } from "../generated/methods.js";
import { APIError, BinaryNotFound, BinaryTooOld, CallCancelled, CallTimeout, ClientClosed } from "./errors.js";
import { closing, follow } from "./events.js";
import { knownErrors } from "./known-errors.js";
import { iterable } from "./lists.js";
import { known, namespaces } from "./namespaces.js";
import { check, checkCall, placed } from "./options.js";
import { ServerProcess } from "./process.js";
import { conceal } from "./secrets.js";
import { atCaller } from "./stack.js";

const production = namespaces(methods);

/** The maximum delay of setTimeout, 24 days. A longer delay would expire immediately. */
const longestTimer = 2 ** 31 - 1;

/** Raises the listener limit, because one signal can abort many calls: Node warns of a leak above ten listeners. */
function listen(signal, abort) {
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener("abort", abort, { once: true });
}

export class Mintmark extends EventEmitter {
  #options;
  #cwd;
  #process = null;
  #closing = null;

  static async start(options = {}) {
    const client = new this(options);
    try {
      await client.system.ping();
    } catch (error) {
      // There are no calls in flight to wait for.
      await client.close({ timeoutMs: 0 });
      throw atCaller(error, this.start);
    }
    return client;
  }

  /** @param {[string, Function][]} more further namespaces and their classes. */
  constructor(options = {}, more = []) {
    super();
    this.#options = { ...check(placed(options)) };
    // Relative paths of the store and the program must not change after process.chdir.
    this.#cwd = resolve(this.#options.cwd ?? ".");
    const call = (...given) => this.#call(...given);
    for (const [name, Methods] of [...production, ...more]) this[name] = new Methods(call);
  }

  get pid() {
    return this.#process?.isUsable ? this.#process.pid : undefined;
  }

  call(method, params, options) {
    return this.#call(known.get(method) ?? { name: method, secrets: [] }, params, options, this.call);
  }

  follow({ types, after, signal } = {}) {
    return follow(this, () => this.#closing !== null, { types, after, signal });
  }

  close({ timeoutMs = 10_000 } = {}) {
    if (!this.#closing) queueMicrotask(() => this.emit(closing));
    this.#closing ??= Promise.resolve(this.#process?.close(timeoutMs));
    return this.#closing;
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  #call(method, params = {}, options = {}, entry) {
    const promise = this.#send(method, params, options, entry);
    if (!method.items) return promise;
    return iterable(promise, method.items, (cursor) => this.#call(method, { ...params, cursor }, options, entry));
  }

  async #send(method, params, options, entry) {
    // The innermost function of the client on the stack that an error must not show. After `await`, that is this function.
    let hidden = entry;
    try {
      checkCall(method, options);
      if (params === null || typeof params !== "object" || Array.isArray(params)) {
        throw new TypeError(`${method.name} takes an object of named parameters.`);
      }
      const { timeoutMs = this.#options.timeoutMs, signal, trace, progress } = options;
      // Awaits only if a process has ended, so that calls are sent in the order in which they are made.
      let process = this.#usable(method.name, signal);
      if (!process) {
        hidden = this.#send;
        process = await this.#afterDeath(method.name, signal);
      }
      if (process.offered) {
        hidden = this.#send;
        const offer = await process.offered;
        if (offer.failure) throw offer.failure(this.#advice, method.name);
        if (offer.error) throw this.#error({ name: "hooks.offer" }, { ...offer.error, method: "hooks.offer" }, process);
      }
      const { outcome, cancel } = process.request({ method: method.name, params, trace }, progress);
      const abort = () => cancel({ failure: () => new CallCancelled(method.name, signal.reason) });
      const expire = () => cancel({ failure: () => new CallTimeout(method.name, timeoutMs) });
      if (signal) listen(signal, abort);
      const timer = timeoutMs > longestTimer || timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
      hidden = this.#send;
      const answer = await outcome;
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);

      if (answer.failure) throw answer.failure(this.#advice, method.name);
      if (answer.error) throw this.#error(method, { ...answer.error, method: method.name, trace: answer.trace }, process);
      return conceal(answer.result, method.secrets);
    } catch (error) {
      throw atCaller(error, hidden);
    }
  }

  /** The process; started if there is none. Undefined if a process has ended and must not be replaced. */
  #usable(method, signal) {
    if (this.#closing) throw new ClientClosed(method);
    if (signal?.aborted) throw new CallCancelled(method, signal.reason);
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
    if (this.#options.store !== ":memory:") return "{ restart: false } forbids a new process. Start a new client.";
    return "The store in memory is lost. Start a new client, or set { restart: true } to continue with an empty store.";
  }

  #error(method, error, process) {
    const Known = knownErrors.get(error.code) ?? APIError;
    if (Known !== MethodNotFound) return new Known(error);
    if (method.name.startsWith("test.") && !this.#options.testing) {
      return new Known({ ...error, message: `${method.name} requires a testing store. Use TestingClient of mintmark/testing.` });
    }
    return known.has(method.name) ? new BinaryTooOld(process.binary, method.name) : new Known(error);
  }
}
