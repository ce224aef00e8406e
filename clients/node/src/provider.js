import { ProviderNotOpen } from "../generated/errors.js";
import { ClientClosed } from "./errors.js";

export class CredentialsProvider {
  #client;
  #params;
  #onTokenRequired;
  #opened = null;
  #asked = new Map();
  #isClosed = false;

  constructor(client, { onTokenRequired, ...params }) {
    if (typeof onTokenRequired !== "function") throw new TypeError("A CredentialsProvider takes a function onTokenRequired.");
    this.#client = client;
    this.#onTokenRequired = onTokenRequired;
    this.#params = { ...params, tokenSource: "caller" };
  }

  get({ refresh = false } = {}) {
    return this.#ready("get", refresh ? { refresh } : {});
  }

  async identityId() {
    return (await this.#ready("identityId", {})).identityId;
  }

  async setLogins(logins) {
    this.#params = { ...this.#params, logins };
    await this.#call("setLogins", { logins });
  }

  async clearCredentials() {
    await this.#call("clearCredentials", {});
  }

  async clearKeychain() {
    this.#params = { ...this.#params, logins: undefined };
    await this.#call("clearKeychain", {});
  }

  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#opened) await this.#client.credentialsProvider.close({ provider: await this.#opened });
  }

  async #ready(method, params) {
    const answer = await this.#call(method, params);
    if (answer.state !== "tokenRequired") return answer;
    const { continuationToken } = answer;
    // Calls that need the same renewal receive the same continuation token, and share one token request.
    if (!this.#asked.has(continuationToken)) {
      const asking = this.#ask(answer).finally(() => this.#asked.delete(continuationToken));
      this.#asked.set(continuationToken, asking);
    }
    return this.#asked.get(continuationToken);
  }

  async #ask({ continuationToken, logins, identityId: kept, reason }) {
    const { identityId, token } = taken(await this.#onTokenRequired(logins, { identityId: kept, reason }));
    return this.#client.credentialsProvider.submitToken({ continuationToken, identityId, token });
  }

  async #call(method, params) {
    const methods = this.#client.credentialsProvider;
    const opened = this.#open();
    const provider = await opened;
    try {
      return await methods[method]({ ...params, provider });
    } catch (error) {
      // The process was restarted and no longer has the provider.
      if (!(error instanceof ProviderNotOpen) || this.#isClosed) throw error;
      if (this.#opened === opened) this.#opened = null;
      return methods[method]({ ...params, provider: await this.#open() });
    }
  }

  #open() {
    if (!this.#opened) {
      if (this.#isClosed) throw ClientClosed.ofProvider();
      const opening = this.#client.credentialsProvider.open(this.#params).then(({ provider }) => provider);
      opening.catch(() => this.#opened === opening && (this.#opened = null));
      this.#opened = opening;
    }
    return this.#opened;
  }
}

/** Validates the return value of the backend. */
function taken(given) {
  if (typeof given?.identityId === "string" && typeof given.token === "string") return given;
  const found = given !== null && typeof given === "object" ? `an object with ${Object.keys(given).join(", ") || "nothing"}` : typeof given;
  throw new TypeError(`onTokenRequired gives { identityId, token }, as token.mintForDeveloper answers them; it gave ${found}.`);
}
