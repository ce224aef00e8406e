// For tests: see ../README.md.
import { Mintmark } from "./client.js";

/**
 * A Mintmark of the test's own, closed after it.
 * @param {{after: Function}} t the context that Node's test runner gives a test.
 */
export async function mintmark(t, options) {
  if (typeof t?.after !== "function") throw new TypeError("mintmark takes the context of the test: test(\"…\", async (t) => { const { m } = await mintmark(t); … }).");
  const lines = [];
  const m = await Mintmark.testing({ stderr: (line) => lines.push(line), ...options });
  t.after(async () => {
    // Nothing is kept: what is still asked of it, such as a wait for a mail, is not waited for.
    await m.close({ timeoutMs: 1000 });
    // What a test of the runner says is shown beside it.
    if (t.passed === false) for (const line of lines) t.diagnostic?.(line);
  });
  return { m, clock: new Clock(m), outbox: new Outbox(m) };
}

/** The clock of a testing store. Times are seconds since 1970, or a `Date`. */
class Clock {
  #m;

  constructor(m) {
    this.#m = m;
  }

  async now() {
    return (await this.#m.test.clock({})).now;
  }

  async freeze(at) {
    return (await this.#m.test.clock({ freeze: true, ...(at === undefined ? {} : { setAt: seconds(at) }) })).now;
  }

  async run() {
    return (await this.#m.test.clock({ freeze: false })).now;
  }

  async set(at) {
    return (await this.#m.test.clock({ setAt: seconds(at) })).now;
  }

  async advance(advanceSeconds) {
    return (await this.#m.test.clock({ advanceSeconds })).now;
  }
}

/** The mails and text messages that a testing store would have sent. */
class Outbox {
  #m;

  constructor(m) {
    this.#m = m;
  }

  async messages(to) {
    return (await this.#m.test.outbox(to === undefined ? {} : { to })).messages;
  }

  async last(to) {
    return (await this.messages(to)).at(-1) ?? this.#missing("message", to);
  }

  async code(to) {
    const found = (await this.messages(to)).filter(({ code }) => code).at(-1) ?? (await this.#missing("code", to));
    return found.code;
  }

  async #missing(what, to) {
    const others = [...new Set((await this.messages()).map((message) => message.to))];
    const sent = others.length > 0 ? `Messages were sent to ${others.join(", ")}.` : "No messages were sent.";
    throw new Error(`No ${what} was sent${to === undefined ? "" : ` to ${to}`}. ${sent}`);
  }
}

function seconds(at) {
  return at instanceof Date ? Math.floor(at.getTime() / 1000) : at;
}
