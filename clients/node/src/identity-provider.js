// The OpenID Connect provider of a testing store, for tests of a service: see testing.d.ts.

export class IdentityProvider {
  #m;
  #base;

  constructor(m, { baseUrl, issuer, jwksUrl, discoveryUrl }, audience) {
    this.#m = m;
    this.#base = baseUrl;
    Object.assign(this, { issuer, jwksUrl, discoveryUrl, audience });
  }

  static async start(m, { audience = "test" } = {}) {
    return new IdentityProvider(m, await m.test.idp({ issuers: [{ name: "default", passwordless: true, createAccounts: true }] }), audience);
  }

  async token(params) {
    return (await this.#m.test.token({ issuer: this.issuer, subject: "test-user", audience: this.audience, use: "access", ...named(params) })).token;
  }

  async expired(given) {
    const { seconds = 3600, claims, ...params } = named(given);
    const { now } = await this.#m.test.clock({});
    const exp = Math.min(now, Math.floor(Date.now() / 1000)) - seconds;
    return this.token({ ...params, claims: { iat: exp - 3600, exp, ...claims } });
  }

  async foreign(params) {
    const { issuers } = await this.#m.test.idp({ issuers: [{ name: "foreign" }] });
    return this.token({ issuer: issuers.find(({ name }) => name === "foreign").issuer, ...named(params) });
  }

  async login(client, email, { path = "/login", password, claims } = {}) {
    if (claims) await this.#m.test.enqueue({ issuer: "default", claims });
    const send = typeof client === "function" ? client : browser();
    let url = typeof client === "function" ? path : new URL(path, client.href ?? client).href;
    let host;
    let response = await send(url, { redirect: "manual" });
    for (let hops = 0; hops < 20; hops++) {
      const location = locationOf(response);
      if (location === undefined) break;
      const next = URL.canParse(location) ? location : URL.canParse(url) ? new URL(location, url).href : location;
      if (next.startsWith(`${this.#base}/`)) {
        const step = await this.#signIn(next, email, password);
        url = step.url;
        host = new URL(url).host;
        response = await send(url, { redirect: "manual", ...step.init });
        continue;
      }
      // The service sends the browser elsewhere; the login is over.
      if (host !== undefined && URL.canParse(next) && new URL(next).host !== host) break;
      url = next;
      response = await send(url, { redirect: "manual" });
    }
    if (host === undefined) {
      throw new Error(`${path} does not lead to the provider: the last answer of the service has the status ${response.status}. Configure the issuer ${this.issuer} in the service.`);
    }
    return response;
  }

  /** Sends the form of the login page. Returns the request that the browser sends to the service next. */
  async #signIn(url, email, password) {
    const send = browser();
    const fields = { step: "address", email, ...(password === undefined ? {} : { password }) };
    let response = await send(url, { redirect: "manual", ...form(fields) });
    for (let location; (location = locationOf(response)) !== undefined; ) {
      url = new URL(location, url).href;
      if (!url.startsWith(`${this.#base}/`)) return { url };
      response = await send(url, { redirect: "manual" });
    }
    const page = await response.text();
    const action = unescaped(/<form[^>]*\saction="([^"]*)"/i.exec(page)?.[1] ?? "");
    if (URL.canParse(action) && !action.startsWith(`${this.#base}/`)) {
      // response_mode=form_post
      const inputs = [...page.matchAll(/<input[^>]*>/gi)].map(([tag]) => ["name", "value"].map((name) => unescaped(new RegExp(`\\s${name}="([^"]*)"`, "i").exec(tag)?.[1] ?? "")));
      return { url: action, init: form(inputs.filter(([name]) => name)) };
    }
    const words = page.replace(/<(style|script)[^]*?<\/\1>|<[^>]*>/gi, " ").replace(/\s+/g, " ").trim();
    throw new Error(`The provider has not signed in ${email}: status ${response.status}, ${unescaped(words).slice(0, 300)}`);
  }
}

/** A text alone is the subject. */
function named(params = {}) {
  if (typeof params === "string") return { subject: params };
  if (params === null || typeof params !== "object" || Array.isArray(params)) {
    throw new TypeError('A token takes a subject, such as "alice", or parameters, such as { subject: "alice", claims: { role: "admin" } }.');
  }
  return params;
}

function locationOf(response) {
  return [301, 302, 303, 307, 308].includes(response.status) ? (response.headers.get("location") ?? undefined) : undefined;
}

function form(fields) {
  return { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams(fields).toString() };
}

/** Returns a `fetch` that keeps cookies, by host. */
function browser() {
  const jar = new Map();
  return async (url, init = {}) => {
    const { host } = new URL(url);
    if (!jar.has(host)) jar.set(host, new Map());
    const cookies = jar.get(host);
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers }).catch((error) => {
      throw new Error(`${new URL(url).origin} does not answer: ${error.cause?.message ?? error.message}. Start the service before the login.`, { cause: error });
    });
    for (const line of setCookies(response.headers)) {
      const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (name === undefined) continue;
      if (/;\s*max-age=(0|-\d+)\s*(;|$)/i.test(line)) cookies.delete(name.trim());
      else cookies.set(name.trim(), value);
    }
    return response;
  };
}

/** The `Set-Cookie` headers. Node 18 before 18.14.1 has them in one text; a comma inside a date is followed by a space and a number. */
function setCookies(headers) {
  if (headers.getSetCookie) return headers.getSetCookie();
  return headers.get("set-cookie")?.split(/,\s*(?=[^;,=\s]+=)/) ?? [];
}

function unescaped(text) {
  return text.replace(/&(?:amp|lt|gt|quot|#39|#x27);/gi, (name) => ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' })[name.toLowerCase()] ?? "'");
}
