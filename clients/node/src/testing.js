// Helpers for tests: see ../README.md.
import { testing } from "../generated/testing.js";
import { Mintmark } from "./client.js";
import { IdentityProvider } from "./identity-provider.js";
import { namespaces } from "./namespaces.js";

export { IdentityProvider };

const more = namespaces(testing);

export class TestingClient extends Mintmark {
  constructor(options = {}) {
    super({ ...(options.app === undefined && { store: ":memory:" }), ...options, testing: true }, more);
  }
}

export async function mintmark(t, options) {
  if (typeof t?.after !== "function") throw new TypeError("mintmark takes the context of the test: test(\"…\", async (t) => { const { m } = await mintmark(t); … }).");
  const lines = [];
  const m = await TestingClient.start({ stderr: (line) => lines.push(line), ...options });
  t.after(async () => {
    // The store is discarded, so calls that are still waiting, such as for an email, are not awaited.
    await m.close({ timeoutMs: 1000 });
    // Node's test runner shows diagnostics next to the test.
    if (t.passed === false) for (const line of lines) t.diagnostic?.(line);
  });
  return { m, clock: new Clock(m), outbox: new Outbox(m), idp: (settings) => IdentityProvider.start(m, settings) };
}

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
