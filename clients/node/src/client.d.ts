import type { Namespaces } from "../generated/namespaces.js";
import type { MintmarkError } from "./errors.js";

declare global {
  // As in TypeScript 5.2 and in @types/node, for compilers that do not have it yet.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** What a client is made with. Exactly one of `store` and `app` is named. */
export type MintmarkOptions = (
  | {
      /** A file, or `:memory:` for a store that ends with the process. */
      store: string;
      app?: undefined;
    }
  | {
      /** The application whose store is used, `mintmark/<app>.db` in the folder of the user's data. */
      app: string;
      store?: undefined;
    }
) &
  ProcessOptions;

/** What else a client is made with. */
export interface ProcessOptions {
  /** The program: a path, or a name to be looked for on `PATH`. Without it: `MINTMARK_BINARY`, else `mintmark`. */
  binary?: string;
  /** Use a testing store, whose clock can be turned. */
  testing?: boolean;
  /** Where a new testing store's clock stands, in seconds since 1970. */
  clock?: number;
  /** The base of every issuer, an https URL. */
  issuer?: string;
  /** The first part of pool and identity ids. Without it: `local-1`. */
  region?: string;
  /** The account number in ARNs. Without it: `000000000000`. */
  account?: string;
  /** A file with the master key, 32 bytes in base64url or hexadecimal. Without it: `<store>.key`, or `MINTMARK_MASTER_KEY` in `env`. */
  masterKeyFile?: string;
  /** Which methods are offered: all, or with `public` only what proves itself by tokens. */
  caller?: "developer" | "public";
  /** Record in the audit log that tokens were minted for known identities, too. */
  auditIssuance?: boolean;
  /** The path of a file to which the heads of the audit log are appended. */
  auditHeadsFile?: string;
  /** Whether an older store is brought up to date. Without it: `auto`. */
  migrate?: "auto" | "never";
  /** The least level that is logged. Without it: `info`. */
  logLevel?: "trace" | "debug" | "info" | "notice" | "warning" | "error" | "critical";
  /** Run calls strictly one after the other. */
  sequential?: boolean;
  /** How long SIGTERM waits for what is in flight, in seconds. Without it: 5. */
  drainSeconds?: number;
  /** The longest request, in bytes. Without it: 1 MiB. */
  maxLineBytes?: number;
  /** End when the process with this id is gone. Without it: this process; 0 for none. */
  parent?: number;
  /** Make the store be as this document declares before serving: see `system.apply`. */
  apply?: string;
  /** Remove audit records that are older. Without it: keep all. */
  auditRetentionDays?: number;
  /** How many connections to a PostgreSQL server may be open at once. Without it: 4. */
  dbConnections?: number;
  /** A file of certificates (PEM) that are trusted beside the system's own when login providers are asked. */
  caFile?: string;
  /** The proxy by which login providers are asked. Without it: none. */
  proxy?: string;
  /** The mail server, such as `smtp://mail.example.com:587` (STARTTLS) or `smtps://mail.example.com`. */
  smtpUrl?: string;
  /** The address that mails come from. */
  mailFrom?: string;
  /** Who logs in to the mail server, with the password in `smtpPasswordFile` or as `MINTMARK_SMTP_PASSWORD` in `env`. */
  smtpUser?: string;
  /** A file with that password. */
  smtpPasswordFile?: string;
  /** Speak to the mail server without TLS; on a loopback address only. */
  smtpUnencrypted?: boolean;
  /** Where text messages, and mails if there is no mail server, are posted to. */
  webhookUrl?: string;
  /** A file with the secret that posts are signed with; or `MINTMARK_WEBHOOK_SECRET` in `env`. */
  webhookSecretFile?: string;
  /** A file that every message is written to, both ways and without secrets. */
  traceFile?: string;
  /** Further arguments of `mintmark serve`. */
  arguments?: readonly string[];
  /** Environment variables of the process, beside those of this one. */
  env?: Record<string, string | undefined>;
  /** The folder the process runs in. */
  cwd?: string;
  /** Where the process's log goes: to this one's standard error, nowhere, or line by line to a function. Without it: `inherit`. */
  stderr?: "inherit" | "ignore" | ((line: string) => void);
  /** Whether a call starts a new process after one has died. Without it: unless the store was `:memory:`. */
  restart?: boolean;
  /** How long a call may take where it does not say so itself, in milliseconds. Without it: for ever. */
  timeoutMs?: number;
}

/** What an `AbortSignal` has of what is used here. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: any;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** How one call is made. */
export interface CallOptions {
  /** How long it may take, in milliseconds; then it rejects with `CallTimedOut` and is cancelled. */
  timeoutMs?: number;
  /**
   * Cancels the call: it rejects with `CallAborted`, whose name is `AbortError`, at once. What was changed already stays
   * changed.
   */
  signal?: AbortSignalLike;
  /** At most 128 characters that stand in the logs and audit records of this call. */
  trace?: string;
  /** Called with what the method says of its progress, such as `account.import`, before the call resolves. */
  progress?: (value: any) => void;
}

/** What Mintmark tells without being asked, such as `credentialsProvider/identityChanged`. */
export interface Notification {
  method: string;
  params: { [name: string]: unknown } | undefined;
}

/** The events of a client. */
export interface MintmarkEvents {
  /** Mintmark tells something. */
  notification: (notification: Notification) => void;
  /** The process ended though nobody closed the client: `ProcessEnded`, `BinaryNotFound` or `ProtocolError`. Calls that waited reject with it too. */
  exit: (error: MintmarkError) => void;
}

/**
 * A Mintmark process and its methods, `m.token.mintForDeveloper({…})`. The first call starts the process.
 *
 * An open client that waits for nothing does not keep Node running; when Node ends, so does the process.
 */
export declare class Mintmark {
  /** Starts the process and waits until it answers. */
  static start(options: MintmarkOptions): Promise<Mintmark>;

  /** Starts a process with a fresh testing store in memory. */
  static testing(options?: ProcessOptions & { store?: string }): Promise<Mintmark>;

  /** @throws {TypeError} when an option is unknown, or neither or both of `store` and `app` are named. */
  constructor(options: MintmarkOptions);

  /** The process's id, while there is one. */
  readonly pid: number | undefined;

  /** Calls a method by its name: one that this client does not know yet. */
  call(method: string, params?: object, options?: CallOptions): Promise<any>;

  /**
   * Lets the process answer what it was asked, and end; after `timeoutMs`, 10,000 without it, it is killed. Later calls are
   * refused with `ClientClosed`.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;

  /** The same as `close`: `await using m = await Mintmark.start({…})`. */
  [Symbol.asyncDispose](): Promise<void>;

  on<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
  once<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
  off<Event extends keyof MintmarkEvents>(event: Event, listener: MintmarkEvents[Event]): this;
}

export interface Mintmark extends Namespaces {}
