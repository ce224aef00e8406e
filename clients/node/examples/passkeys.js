// Serves a page with passkeys: node passkeys.js clients/passkeys/page.html. In your own project, the import is "mintmark/testing".
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { TestingClient } from "../src/testing.js";

// The methods that the page may call. A real application keeps the tokens in a session of its own.
const methods = new Set([
  "signUp.start", "signUp.submitCode", "signIn.withContinuation", "signIn.withCredential", "account.reauthenticate",
  "passkey.startRegistration", "passkey.finishRegistration", "passkey.startAuthentication", "passkey.list", "passkey.delete",
]);

const page = await readFile(process.argv[2]);
const m = await TestingClient.start({ stderr: () => {} });

async function answer(request) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  if (request.method === "GET" && pathname === "/") return [200, "text/html; charset=utf-8", page];
  if (request.method === "GET" && pathname === "/code") {
    const { messages } = await m.test.outbox({ to: searchParams.get("to") });
    return [200, "application/json", JSON.stringify({ code: messages.at(-1).code })];
  }
  const method = pathname.slice(1);
  if (request.method !== "POST" || !methods.has(method)) return [404, "application/json", JSON.stringify({ message: "not allowed" })];
  try {
    return [200, "application/json", JSON.stringify(await m.call(method, await json(request)))];
  } catch (error) {
    return [400, "application/json", JSON.stringify({ type: error.type, message: error.message, data: error.data })];
  }
}

const server = createServer(async (request, response) => {
  const [status, type, body] = await answer(request);
  response.writeHead(status, { "content-type": type }).end(body);
});
server.listen(0, "127.0.0.1", async () => {
  const origin = `http://localhost:${server.address().port}`;
  const passkeys = { relyingPartyId: "localhost", origins: [origin], residentKey: "preferred" };
  await m.tenant.update({ tenantId: "default", localAccountMethod: "passkey", passkeys });
  console.log(origin);
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit());
