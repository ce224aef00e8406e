/** Every error that this client rejects with; wrong options and arguments are `TypeError`s. */
export declare class MintmarkError extends Error {}

/** Mintmark answered with an error. A type that this client does not know yet is an `RpcError` itself. */
export declare class RpcError extends MintmarkError {
  constructor(error: { code: number; message: string; data?: object; method?: string; trace?: string }, options?: { cause?: unknown });
  /** The number that belongs to this error. */
  readonly code: number;
  /** Its stable name. */
  readonly type: string | undefined;
  /** What it says beside its message. */
  readonly data: object;
  /** The method that was called. */
  readonly method: string | undefined;
  /** The `trace` of the call. */
  readonly trace?: string;
  /** After how many seconds the same call may succeed, of an error that may go away by itself. */
  readonly retryAfterSeconds: number | undefined;
}

/** The program is not where it was looked for, or cannot be run. */
export declare class BinaryNotFound extends MintmarkError {
  private constructor();
  /** What was looked for. */
  readonly binary: string;
}

/** The process ended before it answered. Whether what was asked for has been done is not known. */
export declare class ProcessEnded extends MintmarkError {
  private constructor();
  /** The program. */
  readonly binary: string;
  /** Its exit status, if it ended by itself. */
  readonly exitCode: number | null;
  /** The signal that ended it, if one did. */
  readonly signal: string | null;
  /** The last lines it wrote to standard error, where `stderr` is a function. */
  readonly stderr: string[];
  /** The methods that were called and not answered. */
  readonly failedMethods: string[];
}

/** The answer took longer than `timeoutMs`. The call was cancelled; it may have taken effect nevertheless. */
export declare class CallTimedOut extends MintmarkError {
  private constructor();
  readonly method: string;
  readonly timeoutMs: number;
}

/** The call's `signal` was aborted; `cause` is its reason. The call was cancelled; it may have taken effect nevertheless. */
export declare class CallAborted extends MintmarkError {
  private constructor();
  readonly name: "AbortError";
  readonly code: "ABORT_ERR";
  readonly method: string;
  readonly cause: unknown;
}

/** `close` was called before. */
export declare class ClientClosed extends MintmarkError {
  private constructor();
  readonly method: string;
}

/** What came out of the pipe is not what Mintmark writes; the process was ended. */
export declare class ProtocolError extends MintmarkError {
  private constructor();
  /** The program. */
  readonly binary: string;
}
