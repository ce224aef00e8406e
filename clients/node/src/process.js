import { spawn } from "node:child_process";
import { BinaryNotFound, ProcessEnded, ProtocolError } from "./errors.js";
import { checkValues, LineSplitter, refusal } from "./lines.js";
import { longestRequest, toArguments, toEnvironment } from "./options.js";
import { BinaryTooOld, oldVersion } from "./too-old.js";

/** Answers have up to 16 MiB; what stands around them fits into the rest. */
const longestLine = 17 * 1024 * 1024;

/** Asked first of every process. Calls have higher ids. */
const infoId = 0;

/** Whether a message notifies, asks or answers. */
const isMeant = ({ method, result, error }) =>
  typeof method === "string" || result !== undefined || (Number.isInteger(error?.code) && typeof error.message === "string");

/** What to do about a program that ended before it ever answered. */
const stranger = "Is it the right program? MINTMARK_BINARY or { binary } names another.";

/** How many lines of standard error stand in `ProcessEnded`. */
const keptLines = 20;

/**
 * One process: calls go in by `request`, each gets its outcome. Nothing here rejects: an outcome is `{result}`, `{error}` as
 * it was answered, or `{failure}`, an object to make an error of. So errors are made where the call was made, and their
 * stack shows it.
 *
 * While calls wait for answers the process keeps Node running; when none do, it does not.
 */
export class ServerProcess {
  /** The program. */
  binary;
  /** Whether it takes calls. */
  isUsable = true;
  /** Settles when the process is gone and all it wrote has been read. */
  ended;
  /** How it ended; an outcome, once it has. */
  outcome;
  #child;
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
   * @param {object} options those of `Mintmark`.
   * @param {string} cwd where it runs.
   * @param {{onNotification: Function, onEnd: Function}} listeners
   */
  constructor(options, cwd, listeners) {
    this.#listeners = listeners;
    this.binary = options.binary ?? (process.env.MINTMARK_BINARY || "mintmark");
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
        // With a process id it is a signal that could not be sent.
        if (this.pid === undefined) this.#end({ failure: () => new BinaryNotFound(this.binary, options.cwd, cause) }, resolve);
      });
      this.#child.on("close", (exitCode, signal) => this.#end(this.#endOf(exitCode, signal), resolve));
    });
    this.#child.on("exit", () => (this.isUsable = false));
    this.#connect(onLine);
    this.#unref();
    this.#write(JSON.stringify({ jsonrpc: "2.0", id: infoId, method: "system.info" }));
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * Sends a request.
   * @param {object} request without `jsonrpc` and `id`.
   * @param {((value: any) => void) | undefined} progress is called with what is told meanwhile.
   * @returns {{outcome: Promise<object>, cancel: (reason: object) => void}} `cancel` settles with the outcome `reason` and
   * tells the process that nobody waits any more.
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

  /** Ends the input: what was sent is answered, then the process ends. It is killed when that takes too long. */
  async close(timeoutMs) {
    this.isUsable = false;
    this.#hold();
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#kill(), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  // Writing. Lines of one turn go out together; what the pipe does not take yet waits in the stream, in order.

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

  // Reading. Listeners are called on their own, so that one that throws costs no answer.

  #connect(onLine) {
    const { stdin, stdout, stderr } = this.#child;
    // Without a free descriptor there is no pipe; "error" tells it.
    if (!stdin) return;
    // A broken pipe is the end of the process, and that is told by "close".
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
      if (message.id !== undefined) return this.#break(`it asks for ${message.method}`);
      const progress = message.method === "$/progress" && this.#pending.get(message.params?.token)?.progress;
      if (progress) return queueMicrotask(() => progress(message.params.value));
      return queueMicrotask(() => this.#listeners.onNotification({ method: message.method, params: message.params }));
    }
    this.#isKnown = true;
    if (message.id === infoId) {
      const version = oldVersion(message);
      if (version !== undefined) this.#refuse({ failure: (_, method) => BinaryTooOld.ofVersion(version, method, this.binary) });
      return;
    }
    if (message.id === null && message.error) return this.#takeUnread(message);
    this.#settle(message.id, message);
  }

  /** A line that could not be read is answered without an id. If it is not clear whose it was, no call may wait for ever. */
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

  /** Ends a process that is no use; nothing that it answers from now on counts. */
  #refuse(outcome) {
    this.isUsable = false;
    this.#failure = outcome;
    this.#kill();
  }

  /** A child of its own, such as the program of a wrapper, may hold its answers open; "close" is not to wait for that. */
  #kill() {
    this.#child.kill("SIGKILL");
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #endOf(exitCode, signal) {
    if (this.#failure) return this.#failure;
    const failedMethods = [...this.#pending.values()].map((call) => call.method);
    const end = { binary: this.binary, exitCode, signal, stderr: this.#stderr, failedMethods };
    const isStranger = !this.#isKnown && ![2, 64, 74].includes(exitCode);
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

  // Keeping Node running.

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
