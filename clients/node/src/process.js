import { spawn } from "node:child_process";
import { bundledProgram } from "./bundled.js";
import { BinaryNotFound, BinaryTooOld, ProcessEnded, ProtocolError } from "./errors.js";
import { answerTo, offeredHooks } from "./hooks.js";
import { checkValues, LineSplitter, refusal } from "./lines.js";
import { longestRequest, toArguments, toEnvironment } from "./options.js";
import { oldVersion } from "./version.js";

/** The maximum length of a line, in bytes: a result of 16 MiB and its envelope. */
const longestLine = 17 * 1024 * 1024;

/** The ID of the first request, system.info. Calls have higher IDs. */
const infoId = 0;

/** Whether a message is a valid notification, request or response. */
const isMeant = ({ id, method, result, error }) =>
  (typeof method === "string" && (id === undefined || method.startsWith("hook/"))) || result !== undefined || (Number.isInteger(error?.code) && typeof error.message === "string");

/** The advice for a program that ended before its first response. */
const stranger = "Is it the right program? Set another path with { binary } or MINTMARK_BINARY.";

/** The number of lines of standard error that `ProcessEnded` contains. */
const keptLines = 20;

/**
 * One process of mintmark serve. `request` sends a call and returns its outcome. No function of this class rejects. An outcome is
 * `{result}`, `{error}` with the error that Mintmark returned, or `{failure}`, a function that creates an error. The caller creates the
 * error, so that its stack contains the call.
 *
 * The process keeps Node running only while calls wait for responses.
 */
export class ServerProcess {
  /** The program. */
  binary;
  /** Whether the process accepts calls. */
  isUsable = true;
  /** Resolves when the process has exited and all its output has been read. */
  ended;
  /** The outcome of calls that waited when the process ended; undefined while it runs. */
  outcome;
  /** The outcome of the offer of hooks; undefined if there are none. Other calls are sent after it. */
  offered;
  #child;
  #hooks;
  #pending = new Map();
  #lastId = 0;
  #stderr = [];
  #failure = null;
  #isCorked = false;
  #isKnown = false;
  #listeners;
  #holds = 0;
  #longestRequest;

  /**
   * @param {object} options the options of `Mintmark`.
   * @param {string} cwd the working directory of the process.
   * @param {{onNotification: Function, onEnd: Function}} listeners
   */
  constructor(options, cwd, listeners) {
    this.#listeners = listeners;
    this.#hooks = options.hooks;
    this.binary = options.binary ?? (process.env.MINTMARK_BINARY || bundledProgram() || "mintmark");
    this.#longestRequest = longestRequest(options);
    const onLine = typeof options.stderr === "function" ? options.stderr : null;
    this.#child = spawn(this.binary, toArguments(options), {
      cwd,
      env: toEnvironment(options),
      stdio: ["pipe", "pipe", onLine ? "pipe" : (options.stderr ?? "inherit")],
      windowsHide: true,
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("error", (cause) => {
        // If the process has an ID, the error concerns a signal that could not be sent.
        if (this.pid === undefined) this.#end({ failure: () => new BinaryNotFound(this.binary, options.cwd, cause) }, resolve);
      });
      this.#child.on("close", (exitCode, signal) => this.#end(this.#endOf(exitCode, signal), resolve));
    });
    this.#child.on("exit", () => (this.isUsable = false));
    this.#connect(onLine);
    this.#unref();
    this.#write(JSON.stringify({ jsonrpc: "2.0", id: infoId, method: "system.info" }));
    const hooks = offeredHooks(options.hooks);
    if (hooks.length > 0) this.offered = this.request({ method: "hooks.offer", params: { hooks } }).outcome;
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * Sends a request.
   * @param {object} request the request without `jsonrpc` and `id`.
   * @param {((value: unknown) => void) | undefined} progress is called with each progress value.
   * @returns {{outcome: Promise<object>, cancel: (reason: object) => void}} `cancel` settles the call with the outcome `reason` and cancels
   * the request in the process.
   */
  request(request, progress) {
    const id = ++this.#lastId;
    const text = JSON.stringify({ jsonrpc: "2.0", id, ...request, ...(progress && { progressToken: id }) });
    const error = refusal(text, this.#longestRequest, checkValues(request.params));
    if (error) return { outcome: Promise.resolve({ error }), cancel() {} };
    let settle;
    const outcome = new Promise((resolve) => (settle = resolve));
    this.#pending.set(id, { settle, method: request.method, progress });
    this.#hold();
    this.#write(text);
    const cancel = (reason) => {
      if (!this.#settle(id, reason)) return;
      this.#write(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } }));
    };
    return { outcome, cancel };
  }

  /** Closes the input. The process finishes the requests that it has received, then exits. It is killed after `timeoutMs`. */
  async close(timeoutMs) {
    this.isUsable = false;
    this.#hold();
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#kill(), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  // Writing. Lines of one turn of the event loop are written together. The stream buffers what the pipe does not accept yet.

  #write(text) {
    const { stdin } = this.#child;
    if (!stdin?.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      stdin.cork();
      queueMicrotask(() => {
        this.#isCorked = false;
        stdin.uncork();
      });
    }
    stdin.write(text + "\n");
  }

  // Reading. Each listener runs in its own microtask, so that an exception in a listener does not affect responses.

  #connect(onLine) {
    const { stdin, stdout, stderr } = this.#child;
    // If no file descriptor is available, there are no pipes; the "error" event reports the failure.
    if (!stdin) return;
    // A broken pipe means that the process has ended, which the "close" event reports.
    stdin.on("error", () => {});
    stdout.on("end", () => stdin.end());
    const answers = new LineSplitter(longestLine);
    stdout.on("data", (chunk) => {
      if (this.#failure) return;
      for (const line of answers.push(chunk)) if (!this.#failure) this.#take(line);
      if (answers.isTooLong) this.#break(`it wrote a line of more than ${longestLine} bytes`);
    });
    if (!stderr) return;
    const log = new LineSplitter(Infinity);
    stderr.unref?.();
    stderr.on("data", (chunk) => {
      for (const line of log.push(chunk)) this.#keep(line, onLine);
    });
    stderr.on("end", () => {
      const rest = log.rest();
      if (rest) this.#keep(rest, onLine);
    });
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#break(`it wrote ${JSON.stringify(line.slice(0, 80))}`);
    }
    if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0" || !isMeant(message)) {
      return this.#break(`it wrote ${JSON.stringify(line.slice(0, 80))}`);
    }
    if (message.method !== undefined) {
      if (message.id !== undefined) return this.#answer(message);
      const progress = message.method === "$/progress" && this.#pending.get(message.params?.token)?.progress;
      if (progress) return queueMicrotask(() => progress(message.params.value));
      return queueMicrotask(() => this.#listeners.onNotification({ method: message.method, params: message.params }));
    }
    this.#isKnown = true;
    if (message.id === infoId) {
      const version = oldVersion(message);
      if (version !== undefined) this.#refuse({ failure: (_, method) => new BinaryTooOld(this.binary, method, version) });
      return;
    }
    if (message.id === null && message.error) return this.#takeUnread(message);
    this.#settle(message.id, message);
  }

  async #answer(request) {
    this.#write(await answerTo(this.#hooks, request));
  }

  /** Handles an error without an ID. The process could not parse a line, so every waiting call fails with that error. */
  #takeUnread(message) {
    for (const id of [...this.#pending.keys()]) this.#settle(id, message);
  }

  #keep(line, onLine) {
    this.#stderr.push(line);
    if (this.#stderr.length > keptLines) this.#stderr.shift();
    queueMicrotask(() => onLine(line));
  }

  // Ending.

  #settle(id, outcome) {
    const call = this.#pending.get(id);
    if (!call) return false;
    this.#pending.delete(id);
    this.#release();
    call.settle(outcome);
    return true;
  }

  #break(reason) {
    this.#refuse({ failure: () => new ProtocolError(this.binary, reason) });
  }

  /** Kills a process that cannot be used. Its later output is ignored. */
  #refuse(outcome) {
    this.isUsable = false;
    this.#failure = outcome;
    this.#kill();
  }

  /**
   * Kills the process and closes its output. A child process, such as the program of a wrapper script, can hold the pipes open and would
   * delay "close".
   */
  #kill() {
    this.#child.kill("SIGKILL");
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #endOf(exitCode, signal) {
    if (this.#failure) return this.#failure;
    const failedMethods = [...this.#pending.values()].map((call) => call.method);
    const end = { binary: this.binary, exitCode, signal, stderr: this.#stderr, failedMethods };
    const isStranger = !this.#isKnown && ![2, 64, 69, 74].includes(exitCode);
    return { failure: (advice) => new ProcessEnded(end, isStranger ? stranger : advice) };
  }

  #end(outcome, resolve) {
    if (this.outcome) return;
    this.isUsable = false;
    this.outcome = outcome;
    for (const id of [...this.#pending.keys()]) this.#settle(id, outcome);
    resolve();
    this.#listeners.onEnd(outcome);
  }

  // Keeping Node running while calls wait.

  #hold() {
    if (this.#holds++ === 0) for (const handle of this.#handles()) handle.ref?.();
  }

  #release() {
    if (--this.#holds === 0) this.#unref();
  }

  #unref() {
    for (const handle of this.#handles()) handle.unref?.();
  }

  #handles() {
    return [this.#child, this.#child.stdin, this.#child.stdout].filter(Boolean);
  }
}
