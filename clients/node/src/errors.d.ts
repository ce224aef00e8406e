import type { KnownError } from "../generated/errors.js";

/** The superclass of all errors of this client, except `TypeError` for invalid options and arguments. */
export declare class MintmarkError extends Error {}

/** Mintmark returned an error. An error type that this client does not know is a plain `APIError`. */
export declare class APIError extends MintmarkError {
  constructor(error: { code: number; message: string; data?: object; method?: string; trace?: string }, options?: { cause?: unknown });
  /** The number of the error. */
  readonly code: number;
  /** The stable name of the error. */
  readonly type: string | undefined;
  /** The details of the error. */
  readonly data: object;
  /** The method that was called. */
  readonly method: string | undefined;
  /** The `trace` of the call. */
  readonly trace?: string;
  /** The number of seconds after which the same call can succeed; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Whether an error is an `APIError` of a type that this client knows. `type` then identifies it: after
 * `isKnownError(error) && error.type === "poolNotFound"`, `error.data.poolId` is a string.
 */
export declare function isKnownError(error: unknown): error is KnownError;

/** The program does not exist, or cannot be executed. */
export declare class BinaryNotFound extends MintmarkError {
  private constructor();
  /** The path or name of the program. */
  readonly binary: string;
}

/** The program is older than this client, or lacks one of its methods. */
export declare class BinaryTooOld extends MintmarkError {
  private constructor();
  /** The program. */
  readonly binary: string;
  /** The method that was called. */
  readonly method: string | undefined;
}

/** The process ended before it returned a response. It is unknown whether the call took effect. */
export declare class ProcessEnded extends MintmarkError {
  private constructor();
  /** The program. */
  readonly binary: string;
  /** Its exit status; null if a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it; null if it exited by itself. */
  readonly signal: string | null;
  /** The last lines that it wrote to standard error; empty unless `stderr` is a function. */
  readonly stderr: string[];
  /** The methods that were waiting for a response. */
  readonly failedMethods: string[];
}

/** The call took longer than `timeoutMs`. It was canceled but may have taken effect. */
export declare class CallTimeout extends MintmarkError {
  private constructor();
  readonly method: string;
  readonly timeoutMs: number;
}

/** The call's `signal` was aborted; `cause` is its reason. The call was canceled but may have taken effect. */
export declare class CallCancelled extends MintmarkError {
  private constructor();
  readonly name: "AbortError";
  readonly code: "ABORT_ERR";
  readonly method: string;
  readonly cause: unknown;
}

/** The client was already closed. */
export declare class ClientClosed extends MintmarkError {
  private constructor();
  readonly method: string;
}

/** The output of the program is not valid Mintmark output. The process was killed. */
export declare class ProtocolError extends MintmarkError {
  private constructor();
  /** The program. */
  readonly binary: string;
}
