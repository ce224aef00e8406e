import type { Mintmark, ProcessOptions } from "./client.js";
import type { SentMessage } from "../generated/types.js";

/** What is used of the context that Node's test runner gives a test. */
export interface TestContextLike {
  after(run: () => Promise<void> | void): void;
}

/** The clock of a testing store. Times are seconds since 1970, or a `Date`; each call answers what it then shows. */
export interface Clock {
  now(): Promise<number>;
  /** Stops it, at a time or where it is. */
  freeze(at?: number | Date): Promise<number>;
  /** Lets it run on. */
  run(): Promise<number>;
  set(at: number | Date): Promise<number>;
  /** Moves it on by so many seconds. */
  advance(seconds: number): Promise<number>;
}

/** The mails and text messages that a testing store would have sent. */
export interface Outbox {
  /** All of them, or those to one address or number. */
  messages(to?: string): Promise<SentMessage[]>;
  /** The last one; rejects if there is none. */
  last(to?: string): Promise<SentMessage>;
  /** The code in the last one that has a code; rejects if there is none. */
  code(to?: string): Promise<string>;
}

/** A Mintmark of the test's own, with an empty store in memory; closed after the test, its log shown if that failed (from Node 20.12 on, which tells). */
export function mintmark(t: TestContextLike, options?: ProcessOptions): Promise<{ m: Mintmark; clock: Clock; outbox: Outbox }>;
