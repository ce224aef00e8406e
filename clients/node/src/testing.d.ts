import type { Mintmark, ProcessOptions } from "./client.js";
import type { SentMessage } from "../generated/types.js";

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
export function mintmark(t: TestContextLike, options?: ProcessOptions): Promise<{ m: Mintmark; clock: Clock; outbox: Outbox }>;
