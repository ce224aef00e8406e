import { Mintmark, type ProcessOptions } from "./client.js";
import type { TestingNamespaces } from "../generated/testing.js";
import type { SentMessage } from "../generated/types.js";
import type { TestTokenParams } from "../generated/testing.js";

export * from "../generated/testing.js";

/** The options of a testing client. The store defaults to `:memory:`. */
export type TestingOptions = Omit<ProcessOptions, "testing"> & ({ store?: string; app?: undefined } | { app: string; store?: undefined });

/** A client of a testing store, which has a virtual clock and captures messages: `m.test.clock({ advanceSeconds: 3600 })`. */
export declare class TestingClient extends Mintmark {
  /** Starts the process and waits for its first response. */
  static start(options?: TestingOptions): Promise<TestingClient>;

  constructor(options?: TestingOptions);
}

export interface TestingClient extends TestingNamespaces {}

/** The members of Node's test context that are used. */
export interface TestContextLike {
  after(run: () => Promise<void> | void): void;
}

/** The virtual clock of a testing store. Times are seconds since 1970, or a `Date`. Each method returns the new time. */
export interface Clock {
  now(): Promise<number>;
  /** Stops the clock, at the given time or the current one. */
  freeze(at?: number | Date): Promise<number>;
  /** Lets the clock run again. */
  run(): Promise<number>;
  set(at: number | Date): Promise<number>;
  /** Advances the clock by a number of seconds. */
  advance(seconds: number): Promise<number>;
}

/** The emails and text messages that a testing store has captured. */
export interface Outbox {
  /** Returns all messages, or those to one address or phone number. */
  messages(to?: string): Promise<SentMessage[]>;
  /** Returns the last message; rejects if there is none. */
  last(to?: string): Promise<SentMessage>;
  /** Returns the code of the last message that contains a code; rejects if there is none. */
  code(to?: string): Promise<string>;
}

/**
 * An OpenID Connect provider on 127.0.0.1 with the accounts of the tenant `default`, for tests of a service. The service accepts
 * `token()`, and must refuse `expired()` and `foreign()`. Users sign in with their email address alone; an unknown address gets an account.
 */
export declare class IdentityProvider {
  private constructor();

  /** Starts the provider of a testing store. `audience` is that of tokens for which no other one is given, `test` by default. */
  static start(m: TestingClient, settings?: { audience?: string }): Promise<IdentityProvider>;

  /** The issuer of the tokens. */
  readonly issuer: string;
  /** The URL of the public keys. */
  readonly jwksUrl: string;
  /** The URL of the discovery document. */
  readonly discoveryUrl: string;
  readonly audience: string;

  /**
   * Returns a valid access token. Its times are those of Mintmark's clock, which `test.clock` moves. The clock of your service does not
   * move with it. A string is the subject: `idp.token("alice")`.
   */
  token(params?: string | Partial<TestTokenParams>): Promise<string>;
  /** Returns a token that expired `seconds` ago (3600), by the clock of Mintmark and by the real time, and is valid otherwise. */
  expired(params?: string | (Partial<TestTokenParams> & { seconds?: number })): Promise<string>;
  /** Returns a token of an issuer that your service does not know, and that is valid otherwise. */
  foreign(params?: string | Partial<TestTokenParams>): Promise<string>;
  /**
   * Signs a user in at your service as a browser does, and returns the last response of the service.
   *
   * @param client The URL of the service, or a `fetch` that keeps cookies and resolves relative URLs.
   * @param options.path The path of the service that starts the login by a redirect to the provider, `/login` by default.
   * @param options.password The password, if the account of the user has one that the issuer requires.
   * @param options.claims Additional claims of the tokens of this login.
   */
  login(
    client: string | { readonly href: string } | ((url: string, init: LoginRequest) => Promise<LoginResponse>),
    email: string,
    options?: { path?: string; password?: string; claims?: Record<string, unknown> },
  ): Promise<LoginResponse>;
}

/** The options of a request that `IdentityProvider.login` sends, as for `fetch`. */
export interface LoginRequest {
  redirect: "manual";
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** The members of the `Response` of `fetch` that `IdentityProvider.login` uses. */
export interface LoginResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  json(): Promise<unknown>;
}

/**
 * Starts a Mintmark process for one test, with an empty store in memory, and closes it after the test. If the test fails, its log is shown
 * (Node 20.12 and later).
 */
export function mintmark(t: TestContextLike, options?: TestingOptions): Promise<{
  m: TestingClient;
  clock: Clock;
  outbox: Outbox;
  /** Starts the OpenID Connect provider of the test. */
  idp: (settings?: { audience?: string }) => Promise<IdentityProvider>;
}>;
