// Helpers for the tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mintmark } from "../src/index.js";
import { TestingClient } from "../src/testing.js";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A document under `schemas`. */
export const schema = (path) => JSON.parse(readFileSync(join(root, "schemas", path), "utf8"));

/** Creates a folder that is deleted after the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "mintmark-node-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A client with a testing store in memory that is closed after the test. */
export async function testing(t, options) {
  const m = await TestingClient.start({ stderr: "ignore", ...options });
  t.after(() => m.close());
  return m;
}

/** A client that is closed after the test and has not yet started its process. */
export function client(t, options) {
  const { testing, ...others } = options ?? {};
  const m = new (testing ? TestingClient : Mintmark)({ ...(others.app ? {} : { store: ":memory:" }), stderr: "ignore", ...others });
  t.after(() => m.close());
  return m;
}

/**
 * A program that simulates Mintmark.
 * @param {string} body the code that handles each request; `answer(message)` writes a line.
 */
export function program(t, body, before = "") {
  const path = join(folder(t), "mintmark.mjs");
  writeFileSync(
    path,
    `#!${process.execPath}
import { createInterface } from "node:readline";
const answer = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
${before}
createInterface({ input: process.stdin }).on("line", async (line) => {
  const request = JSON.parse(line);
  // Does not respond to the client's system.info request, which the client accepts.
  if (request.id === 0) return;
  ${body}
});
`,
    { mode: 0o755 },
  );
  return path;
}

/** A pool with the developer provider login.shop. */
export const shop = (m, more) => m.pool.create({ name: "shop", developerProvider: "login.shop", ...more });

/** A token for a user of the pool. */
export const mint = (m, { poolId }, user = "alice", options) =>
  m.token.mintForDeveloper({ poolId, logins: { "login.shop": user } }, options);
