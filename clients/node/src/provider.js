import { ProviderNotOpen } from "../generated/errors.js";
import { ClientClosed } from "./errors.js";

/**
 * Keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed, `onTokenRequired` is
 * asked for it; calls that come meanwhile wait for the same one.
 */
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

  /** Credentials that are good for a while. */
  get({ refresh = false } = {}) {
    return this.#ready("get", refresh ? { refresh } : {});
  }

  /** The id of the identity. */
  async identityId() {
    return (await this.#ready("identityId", {})).identityId;
  }

  /** Says who the user is now. */
  async setLogins(logins) {
    this.#params = { ...this.#params, logins };
    await this.#call("setLogins", { logins });
  }

  /** Drops the credentials and keeps the identity. */
  async clearCredentials() {
    await this.#call("clearCredentials", {});
  }

  /** Drops everything: credentials, identity and logins. */
  async clearKeychain() {
    this.#params = { ...this.#params, logins: undefined };
    await this.#call("clearKeychain", {});
  }

  /** Closes it; the identity's id stays in the store under its key. */
  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#opened) await this.#client.credentialsProvider.close({ provider: await this.#opened });
  }

  async #ready(method, params) {
    const answer = await this.#call(method, params);
    if (answer.state !== "tokenRequired") return answer;
    const { continuationToken } = answer;
    // Whoever meets the same refresh gets the same continuation token, and shares one token.
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
      // A process that was started anew does not know it.
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

/** What a backend gave, if it is of use. */
function taken(given) {
  if (typeof given?.identityId === "string" && typeof given.token === "string") return given;
  const found = given !== null && typeof given === "object" ? `an object with ${Object.keys(given).join(", ") || "nothing"}` : typeof given;
  throw new TypeError(`onTokenRequired gives { identityId, token }, as token.mintForDeveloper answers them; it gave ${found}.`);
}
