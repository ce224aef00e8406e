import type { Namespaces } from "../generated/methods.js";
import type { ServeOptions } from "../generated/options.js";
import type { MintmarkError } from "./errors.js";
import type { EventType, SecurityEvent } from "../generated/types.js";
import type { HookFunctions } from "./hooks.js";

declare global {
  // As in TypeScript 5.2 and in @types/node, for older compilers.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** The options of a client. Exactly one of `store` and `app` is required. */
export type MintmarkOptions = (
  | {
      /** The store: a file, or `:memory:` for a store that is discarded when the process ends. */
      store: string;
      app?: undefined;
    }
  | {
      /** The application whose store is used: `mintmark/<app>.db` in the user's data directory. */
      app: string;
      store?: undefined;
    }
  | {
      /** Without both, `MINTMARK_STORE` or `MINTMARK_APP` names the store, as in the commands of `mintmark run`. */
      store?: undefined;
      app?: undefined;
    }
) &
  ProcessOptions;

/** The other options of a client. */
export interface ProcessOptions extends ServeOptions {
  /**
   * The program: a path, or a name that is searched for on the `PATH`. Defaults to `MINTMARK_BINARY`, otherwise to the program in the npm package for
   * this system, otherwise to `mintmark`.
   */
  binary?: string;
  /** Additional arguments of `mintmark serve`. */
  arguments?: readonly string[];
  /** Environment variables of the process, in addition to those of this process. */
  env?: Record<string, string | undefined>;
  /** The working directory of the process. */
  cwd?: string;
  /**
   * The destination of the process's log: the standard error of this process, nowhere, or a function that receives each line. Defaults to
   * `inherit`.
   */
  stderr?: "inherit" | "ignore" | ((line: string) => void);
  /** The functions that answer hooks, such as `{ beforeSignIn: ({ account }) => ({ claims: { role: "staff" } }) }`. */
  hooks?: HookFunctions;
  /** Whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is `:memory:`. */
  restart?: boolean;
  /** The time limit, in milliseconds, of calls that do not set their own. By default, calls have no time limit. */
  timeoutMs?: number;
}

/** The members of an `AbortSignal` that the client uses. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The options of one call. */
export interface CallOptions {
  /** The time limit, in milliseconds. A call that exceeds it is canceled and rejects with `CallTimeout`. */
  timeoutMs?: number;
  /**
   * Cancels the call: it immediately rejects with `CallCancelled`, whose name is `AbortError`. Changes that were already committed remain.
   */
  signal?: AbortSignalLike;
  /** The trace, at most 128 characters, which is written to the logs and audit records of this call. */
  trace?: string;
}

/** The options of a call that reports progress. */
export interface ProgressOptions<Progress> extends CallOptions {
  /** Called with each progress value, before the call resolves. */
  progress?: (value: Progress) => void;
}

/** A notification from Mintmark, such as `credentialsProvider/identityChanged`. */
export interface Notification {
  method: string;
  params: { [name: string]: unknown } | undefined;
}

/** The options of `follow`. */
export interface FollowOptions {
  /** The types of the events. Defaults to all types. */
  types?: EventType[];
  /** The cursor of the last event that was processed. `0` returns all events that the store has kept. By default, only later events are returned. */
  after?: string;
  /** Ends the iteration. */
  signal?: AbortSignalLike;
}

/** The events of a client. */
export interface MintmarkEvents {
  /** Mintmark sent a notification. */
  notification: (notification: Notification) => void;
  /**
   * The process ended without a call of `close`: `ProcessEnded`, `BinaryNotFound` or `ProtocolError`. Waiting calls also reject with this
   * error.
   */
  exit: (error: MintmarkError) => void;
}

/**
 * A Mintmark process and its methods, such as `m.token.mintForDeveloper({…})`. The first call starts the process.
 *
 * An open client without waiting calls does not keep Node running. The process ends with Node.
 */
export declare class Mintmark {
  /** Starts the process and waits for its first response. */
  static start(options?: MintmarkOptions): Promise<Mintmark>;

  /** @throws {TypeError} if an option is unknown, or if neither or both of `store` and `app` are set. */
  constructor(options?: MintmarkOptions);

  /** The ID of the process; undefined if none is running. */
  readonly pid: number | undefined;

  /** Calls a method by its name. Use this for methods that this client does not know. */
  call<Result = unknown>(method: string, params?: object, options?: ProgressOptions<unknown>): Promise<Result>;

  /**
   * Iterates over the events of the store as they occur, until `signal` is aborted or the client is closed.
   *
   * Store the `cursor` of each event after you have processed it, and pass it as `after` when your program starts again. If the process ends, a new
   * one continues after the last event. A client has one subscription: do not use two iterators at the same time.
   */
  follow(options?: FollowOptions): AsyncGenerator<SecurityEvent, void, undefined>;

  /**
   * Lets the process finish the requests that it has received, then waits for its exit. Kills it after `timeoutMs`, which defaults to
   * 10,000. Later calls reject with `ClientClosed`.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;

  /** Same as `close`, for `await using m = await Mintmark.start({…})`. */
  [Symbol.asyncDispose](): Promise<void>;

  on<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
  once<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
  off<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
}

export interface Mintmark extends Namespaces {}
