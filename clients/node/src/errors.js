// The errors of this client, which errors.d.ts describes. The errors that Mintmark returns have classes in ../generated/errors.js.
import { contractVersion } from "../generated/methods.js";

import { missingPackage } from "./bundled.js";

export class MintmarkError extends Error {
  get name() {
    return this.constructor.name;
  }
}

export class APIError extends MintmarkError {
  /** @param {{code: number, message: string, data?: object, method?: string, trace?: string}} error what Mintmark returned. */
  constructor({ code, message, data, method, trace }, options) {
    super(message, options);
    this.code = code;
    this.type = data?.type;
    this.data = data ?? {};
    this.method = method;
    if (trace !== undefined) this.trace = trace;
  }

  get retryAfterSeconds() {
    return this.data.retryAfterSeconds;
  }
}

export function isKnownError(error) {
  return error instanceof APIError && error.constructor !== APIError;
}

export class BinaryNotFound extends MintmarkError {
  constructor(binary, cwd, cause) {
    const looked = binary.includes("/") ? `at ${binary}` : `named ${binary} on PATH`;
    const trouble = cause.code === "ENOENT" ? `There is no program ${looked}${cwd ? `, or no folder ${cwd}` : ""}.` : `The program ${looked} cannot be run: ${cause.message}.`;
    const advice =
      missingPackage() ??
      "Install Mintmark, or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). Then set its path with " +
      "new Mintmark({ binary }) or MINTMARK_BINARY, or put it on the PATH.";
    super(`${trouble} ${advice}`, { cause });
    this.binary = binary;
  }
}

export class BinaryTooOld extends MintmarkError {
  /** @param {string | undefined} version the version of the program; undefined if only the method is missing. */
  constructor(binary, method, version) {
    const found = version === undefined ? `does not have the method ${method}. It` : `is Mintmark ${version}. It`;
    super(
      `${binary} ${found} is older than this client for Mintmark ${contractVersion}. Install a newer program, or set the path of another one with ` +
        "{ binary } or MINTMARK_BINARY.",
    );
    Object.assign(this, { binary, method });
  }
}

export class ProcessEnded extends MintmarkError {
  /** @param {{binary: string, exitCode: number | null, signal: string | null, stderr: string[], failedMethods: string[]}} end */
  constructor(end, advice = "") {
    const how = end.signal ? `was ended by ${end.signal}` : `ended with status ${end.exitCode}`;
    const lines = end.stderr.length > 0 ? ` Its last log lines: ${end.stderr.join("\n")}` : "";
    const said = end.stderr.length === 0 && [2, 64, 69, 74].includes(end.exitCode) ? "Its standard error contains the reason." : "";
    super([`Mintmark (${end.binary}) ${how}.`, meaning(end.exitCode), said, end.exitCode === 64 ? "" : advice].filter(Boolean).join(" ") + lines);
    Object.assign(this, end);
  }
}

function meaning(exitCode) {
  if (exitCode === 2) return "The store cannot be used; `mintmark doctor` reports the reason.";
  if (exitCode === 64) return "Its arguments are not valid: an option has a wrong value, or the program is older than this client.";
  return "";
}

export class CallTimeout extends MintmarkError {
  constructor(method, timeoutMs) {
    super(`${method} did not return within ${timeoutMs} ms and was canceled. It may have taken effect.`);
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

export class CallCancelled extends MintmarkError {
  constructor(method, reason) {
    super(`${method} was canceled, because its signal was aborted. It may have taken effect.`, { cause: reason });
    this.method = method;
    this.code = "ABORT_ERR";
  }

  get name() {
    return "AbortError";
  }
}

export class ClientClosed extends MintmarkError {
  constructor(method, what = "client") {
    super(`${method} was called on a closed ${what}. Create a new one.`);
    this.method = method;
  }

  /** The error of a CredentialsProvider that was closed before its first call. */
  static ofProvider() {
    return new ClientClosed("credentialsProvider.open", "CredentialsProvider");
  }
}

export class ProtocolError extends MintmarkError {
  constructor(binary, reason) {
    super(`${binary} does not respond like Mintmark: ${reason}. Is it the right program? Set another path with { binary } or MINTMARK_BINARY.`);
    this.binary = binary;
  }
}
