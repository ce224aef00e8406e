// The errors of this client. The errors that Mintmark returns have classes in ../generated/errors.js.

import { missingPackage } from "./bundled.js";

/** The superclass of all errors of this client, except `TypeError` for invalid options and arguments. */
export class MintmarkError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** Mintmark returned an error. An error type that this client does not know is a plain `RpcError`. */
export class RpcError extends MintmarkError {
  /** @param {{code: number, message: string, data?: object, method?: string, trace?: string}} error */
  constructor({ code, message, data, method, trace }, options) {
    super(message, options);
    this.code = code;
    this.type = data?.type;
    this.data = data ?? {};
    this.method = method;
    if (trace !== undefined) this.trace = trace;
  }

  /** The number of seconds after which the same call can succeed; undefined if a retry cannot succeed. */
  get retryAfterSeconds() {
    return this.data.retryAfterSeconds;
  }
}

/** The program does not exist, or cannot be executed. */
export class BinaryNotFound extends MintmarkError {
  constructor(binary, cwd, cause) {
    const looked = binary.includes("/") ? `at ${binary}` : `named ${binary} on PATH`;
    const trouble = cause.code === "ENOENT" ? `There is no program ${looked}${cwd ? `, or no folder ${cwd}` : ""}.` : `The program ${looked} cannot be run: ${cause.message}.`;
    const advice =
      missingPackage() ??
      "Build it in Mintmark's repository (clients/shell/mintmark --version makes .build/mintmark, swift build -c release makes " +
      ".build/release/mintmark) and name it: new Mintmark({ binary }), export MINTMARK_BINARY=$PWD/.build/mintmark, or put it on PATH.";
    super(`${trouble} ${advice}`, { cause });
    this.binary = binary;
  }
}

/** The process ended before it returned a response. It is unknown whether the call took effect. */
export class ProcessEnded extends MintmarkError {
  /** @param {{binary: string, exitCode: number | null, signal: string | null, stderr: string[], failedMethods: string[]}} end */
  constructor(end, advice = "") {
    const how = end.signal ? `was ended by ${end.signal}` : `ended with status ${end.exitCode}`;
    const lines = end.stderr.length > 0 ? ` Its last words: ${end.stderr.join("\n")}` : "";
    const said = end.stderr.length === 0 && [2, 64, 69, 74].includes(end.exitCode) ? "The reason stands on its standard error." : "";
    super([`Mintmark (${end.binary}) ${how}.`, meaning(end.exitCode), said, advice].filter(Boolean).join(" ") + lines);
    Object.assign(this, end);
  }
}

function meaning(exitCode) {
  if (exitCode === 2) return "The store cannot be used; `mintmark doctor` says why.";
  if (exitCode === 64) return "It refused its arguments: an option has a value it does not take, or it is older than this client.";
  return "";
}

/** The call took longer than `timeoutMs`. It was canceled but may have taken effect. */
export class CallTimedOut extends MintmarkError {
  constructor(method, timeoutMs) {
    super(`${method} was not answered within ${timeoutMs} ms. It was cancelled; it may have taken effect nevertheless.`);
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** The call's `signal` was aborted. The call was canceled but may have taken effect. */
export class CallAborted extends MintmarkError {
  constructor(method, reason) {
    super(`${method} was aborted. It may have taken effect nevertheless.`, { cause: reason });
    this.method = method;
    this.code = "ABORT_ERR";
  }

  get name() {
    return "AbortError";
  }
}

/** The client was already closed. */
export class ClientClosed extends MintmarkError {
  constructor(method, what = "client") {
    super(`${method} was called on a ${what} that is closed. Make a new one.`);
    this.method = method;
  }

  /** The error of a CredentialsProvider that was closed before its first call. */
  static ofProvider() {
    return new ClientClosed("credentialsProvider.open", "CredentialsProvider");
  }
}

/** The output of the program is not valid Mintmark output. The process was killed. */
export class ProtocolError extends MintmarkError {
  constructor(binary, reason) {
    super(`${binary} does not answer as Mintmark does: ${reason}. Is it the right program?`);
    this.binary = binary;
  }
}
