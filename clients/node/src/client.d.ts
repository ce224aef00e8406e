import type { Namespaces } from "../generated/namespaces.js";
import type { MintmarkError } from "./errors.js";

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
) &
  ProcessOptions;

/** The other options of a client. */
export interface ProcessOptions {
  /**
   * The program: a path, or a name that is searched for on the `PATH`. Defaults to `MINTMARK_BINARY`, otherwise to the program in the npm package for
   * this system, otherwise to `mintmark`.
   */
  binary?: string;
  /** Whether to use a testing store, which has a virtual clock. */
  testing?: boolean;
  /** The virtual clock of a new testing store, in seconds since 1970-01-01 UTC. */
  clock?: number;
  /** The base URL of all issuers; must be an https URL. */
  issuer?: string;
  /** The first part of pool and identity IDs. Defaults to `local-1`. */
  region?: string;
  /** The account number in ARNs. Defaults to `000000000000`. */
  account?: string;
  /**
   * The file with the master key, 32 bytes in base64url or hexadecimal. Defaults to `<store>.key`, or to `MINTMARK_MASTER_KEY` in `env`.
   */
  masterKeyFile?: string;
  /** The access level: `developer` offers all methods, `public` only those that require a token of the user. */
  caller?: "developer" | "public";
  /** Whether to record tokens minted for existing identities in the audit log, too. */
  auditIssuance?: boolean;
  /** The file to which the heads of the audit log are appended. */
  auditHeadsFile?: string;
  /** Whether to migrate the tables of an older store. Defaults to `auto`. */
  migrate?: "auto" | "never";
  /** The minimum level of log records. Defaults to `info`. */
  logLevel?: "trace" | "debug" | "info" | "notice" | "warning" | "error" | "critical";
  /** Whether to run calls strictly one after the other. */
  sequential?: boolean;
  /** The time, in seconds, that SIGTERM waits for requests in flight. Defaults to 5. */
  drainSeconds?: number;
  /** The maximum size of a request, in bytes. Defaults to 1 MiB. */
  maxLineBytes?: number;
  /** The PID of the process with which Mintmark exits. Defaults to this process; 0 for none. */
  parent?: number;
  /** The configuration document that the store must match before it serves requests: see `system.apply`. */
  apply?: string;
  /** The retention of audit records, in days. By default, all records are kept. */
  auditRetentionDays?: number;
  /** The maximum number of open connections to a PostgreSQL server. Defaults to 4. */
  dbConnections?: number;
  /** The file with certificates (PEM) that are trusted for identity providers, in addition to the system's certificates. */
  caFile?: string;
  /** The HTTP proxy for requests to identity providers. By default, no proxy is used. */
  proxy?: string;
  /** The mail server, such as `smtp://mail.example.com:587` (STARTTLS) or `smtps://mail.example.com`. */
  smtpUrl?: string;
  /** The sender address of emails. */
  mailFrom?: string;
  /** The user name for the mail server. The password is in `smtpPasswordFile`, or in `MINTMARK_SMTP_PASSWORD` in `env`. */
  smtpUser?: string;
  /** The file with the password for the mail server. */
  smtpPasswordFile?: string;
  /** Whether to connect to the mail server without TLS; allowed only for loopback addresses. */
  smtpUnencrypted?: boolean;
  /** The URL to which text messages are posted, and emails if no mail server is set. */
  webhookUrl?: string;
  /** The file with the secret that signs the posted messages; or `MINTMARK_WEBHOOK_SECRET` in `env`. */
  webhookSecretFile?: string;
  /** The file to which all requests and responses are written, without secrets. */
  traceFile?: string;
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
  /** Whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is `:memory:`. */
  restart?: boolean;
  /** The time limit, in milliseconds, of calls that do not set their own. By default, calls have no time limit. */
  timeoutMs?: number;
}

/** The members of an `AbortSignal` that the client uses. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: any;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The options of one call. */
export interface CallOptions {
  /** The time limit, in milliseconds. A call that exceeds it is canceled and rejects with `CallTimedOut`. */
  timeoutMs?: number;
  /**
   * Cancels the call: it immediately rejects with `CallAborted`, whose name is `AbortError`. Changes that were already committed remain.
   */
  signal?: AbortSignalLike;
  /** The trace, at most 128 characters, which is written to the logs and audit records of this call. */
  trace?: string;
  /** Called with each progress value of methods such as `account.import`, before the call resolves. */
  progress?: (value: any) => void;
}

/** A notification from Mintmark, such as `credentialsProvider/identityChanged`. */
export interface Notification {
  method: string;
  params: { [name: string]: unknown } | undefined;
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
  static start(options: MintmarkOptions): Promise<Mintmark>;

  /** Starts a process with an empty testing store in memory. */
  static testing(options?: ProcessOptions & { store?: string }): Promise<Mintmark>;

  /** @throws {TypeError} if an option is unknown, or if neither or both of `store` and `app` are set. */
  constructor(options: MintmarkOptions);

  /** The ID of the process; undefined if none is running. */
  readonly pid: number | undefined;

  /** Calls a method by its name. Use this for methods that this client does not know. */
  call(method: string, params?: object, options?: CallOptions): Promise<any>;

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
