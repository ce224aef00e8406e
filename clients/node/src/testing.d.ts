import { Mintmark, type ProcessOptions } from "./client.js";
import type { TestingNamespaces } from "../generated/testing.js";
import type { SentMessage } from "../generated/types.js";

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
 * Starts a Mintmark process for one test, with an empty store in memory, and closes it after the test. If the test fails, its log is shown
 * (Node 20.12 and later).
 */
export function mintmark(t: TestContextLike, options?: TestingOptions): Promise<{ m: TestingClient; clock: Clock; outbox: Outbox }>;
