import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { BinaryNotFound, ClientClosed, CredentialsProvider, Mintmark, ProcessEnded, ProtocolError } from "../src/index.js";
import { toArguments } from "../src/options.js";
import { client, folder, program, shop, testing } from "./support.js";

test("calls that wait when the process ends reject with its exit status, and a store in memory is not replaced", async (t) => {
  const m = await testing(t);
  const exit = new Promise((resolve) => m.once("exit", resolve));
  process.kill(m.pid, "SIGSTOP");
  const waiting = [m.system.ping(), m.pool.list()];
  process.kill(m.pid, "SIGKILL");
  for (const call of waiting) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof ProcessEnded);
      assert.equal(error.signal, "SIGKILL");
      assert.equal(error.exitCode, null);
      assert.deepEqual(error.failedMethods, ["system.ping", "pool.list"]);
      return true;
    });
  }
  assert.equal((await exit).signal, "SIGKILL");
  assert.equal(m.pid, undefined);
  await assert.rejects(m.system.ping(), (error) => error instanceof ProcessEnded && /The store in memory is lost\. Start a new client/.test(error.message));
});

test("with a store file, the next call after a crash starts a new process with the committed data", async (t) => {
  const m = client(t, { store: join(folder(t), "shop.db") });
  const { poolId } = await shop(m);
  const { pid } = m;
  process.kill(pid, "SIGKILL");
  await assert.rejects(m.pool.get({ poolId }), ProcessEnded);
  assert.equal((await m.pool.get({ poolId })).name, "shop");
  assert.notEqual(m.pid, pid);
});

test("a relative store path does not change after a restart in another directory", async (t) => {
  const here = process.cwd();
  const path = folder(t);
  process.chdir(path);
  t.after(() => process.chdir(here));
  const m = client(t, { store: "shop.db" });
  const { poolId } = await shop(m);
  process.chdir(tmpdir());
  process.kill(m.pid, "SIGKILL");
  await assert.rejects(m.pool.get({ poolId }), ProcessEnded);
  assert.equal((await m.pool.get({ poolId })).name, "shop");
});

test("a provider that was closed before its first use does not open", async (t) => {
  const m = await testing(t);
  const { poolId } = await shop(m, { allowUnauthenticated: true });
  const provider = new CredentialsProvider(m, { poolId, onTokenRequired() {} });
  await provider.close();
  await assert.rejects(provider.identityId(), ClientClosed);
});

test("with restart, a store in memory is replaced; with restart false, calls keep rejecting", async (t) => {
  const memory = await testing(t, { restart: true });
  const { poolId } = await shop(memory);
  process.kill(memory.pid, "SIGKILL");
  await assert.rejects(memory.system.ping(), ProcessEnded);
  await assert.rejects(memory.pool.get({ poolId }), { type: "poolNotFound" });

  const file = client(t, { store: join(folder(t), "shop.db"), restart: false });
  await file.system.ping();
  process.kill(file.pid, "SIGKILL");
  await assert.rejects(file.system.ping(), ProcessEnded);
  await assert.rejects(file.system.ping(), ProcessEnded);
});

test("a missing program rejects with its path and advice", async (t) => {
  const m = client(t, { binary: "/there/is/no/mintmark" });
  await assert.rejects(m.system.ping(), (error) => {
    assert.ok(error instanceof BinaryNotFound);
    assert.equal(error.binary, "/there/is/no/mintmark");
    assert.match(error.message, /no program at \/there\/is\/no\/mintmark.*clients\/shell\/mintmark.*MINTMARK_BINARY.*PATH/);
    return true;
  });
  const plain = join(folder(t), "plain");
  writeFileSync(plain, "");
  await assert.rejects(Mintmark.start({ store: ":memory:", binary: plain }), BinaryNotFound);
  // No data were lost: the same client works after the program is installed.
  const late = join(folder(t), "late");
  const patient = client(t, { binary: late });
  await assert.rejects(patient.system.ping(), BinaryNotFound);
  symlinkSync(program(t, "answer({ id: request.id, result: { now: 7 } });"), late);
  const answers = await Promise.all([patient.system.ping(), patient.system.ping()]);
  assert.deepEqual(answers, [{ now: 7 }, { now: 7 }]);
});

test("the option binary takes precedence over MINTMARK_BINARY and PATH", async (t) => {
  const { MINTMARK_BINARY, PATH } = process.env;
  t.after(() => Object.assign(process.env, { MINTMARK_BINARY, PATH }));
  const other = program(t, "answer({ id: request.id, result: { now: 7 } });");
  const answers = async (options) => (await client(t, options).system.ping()).now;
  assert.equal(await answers({ binary: other }), 7);
  assert.ok((await answers({})) > 7);
  process.env.MINTMARK_BINARY = other;
  assert.equal(await answers({}), 7);
  delete process.env.MINTMARK_BINARY;
  process.env.PATH = folder(t);
  await assert.rejects(client(t).system.ping(), /named mintmark on PATH/);
});

test("every flag of `mintmark serve` is an option", () => {
  const help = [["serve", "--help"], ["help", "store"], ["help", "mail"]]
    .map((words) => execFileSync(process.env.MINTMARK_BINARY, words, { encoding: "utf8" })).join("");
  // The client supports only line framing; core dumps are for debugging the program itself, and the console is for people.
  const left = ["--help", "--version", "--framing", "--allow-core-dumps", "--quiet", "--console", "--write", "--show-secrets"];
  const known = [...help.matchAll(/^  (?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1]).filter((flag) => !left.includes(flag));
  assert.ok(known.length > 15);
  const all = ["app", "store", "issuer", "region", "account", "masterKeyFile", "caller", "testing", "clock", "auditIssuance", "auditHeadsFile", "migrate", "logLevel",
    "sequential", "drainSeconds", "maxLineBytes", "parent", "apply", "auditRetentionDays", "dbConnections", "caFile", "proxy",
    "smtpUrl", "mailFrom", "smtpUser", "smtpPasswordFile", "smtpUnencrypted", "webhookUrl", "webhookSecretFile", "traceFile"];
  const made = toArguments(Object.fromEntries(all.map((name) => [name, "x"]))).slice(1).map((argument) => argument.split("=")[0]);
  assert.deepEqual(made.sort(), known.sort());
});

test("with stderr ignored, rejected arguments refer to standard error for the reason", async () => {
  await assert.rejects(Mintmark.start({ store: ":memory:", arguments: ["--nonsense"], stderr: "ignore" }), /arguments are not valid.*standard error/);
});

test("rejected arguments and programs other than Mintmark reject with different errors", async (t) => {
  const lines = [];
  await assert.rejects(Mintmark.start({ store: ":memory:", arguments: ["--nonsense"], stderr: (line) => lines.push(line) }), (error) => {
    assert.equal(error.exitCode, 64);
    assert.match(error.message, /arguments are not valid/);
    assert.match(error.stderr.join("\n"), /--nonsense/);
    assert.deepEqual(error.stderr, lines);
    return true;
  });
  await assert.rejects(Mintmark.start({ store: ":memory:", binary: program(t, "console.log('hello')") }), ProtocolError);
  await assert.rejects(Mintmark.start({ store: ":memory:", binary: program(t, "console.log(line)") }), ProtocolError);
  await assert.rejects(Mintmark.start({ store: ":memory:", binary: "true" }), ProcessEnded);
});

test("exactly one of store and app is required, and unknown options throw", () => {
  for (const options of [{}, { store: "a", app: "b" }]) {
    assert.throws(() => new Mintmark(options), (error) => error instanceof TypeError && /either a store or an app/.test(error.message));
  }
  assert.throws(() => new Mintmark(), TypeError);
  assert.throws(() => new Mintmark({ store: "a", tseting: true }), /no option tseting/);
  assert.throws(() => new Mintmark({ store: "a", stderr: "loud" }), /stderr is/);
});

test("without store and app, the environment names the store", async (t) => {
  const path = join(folder(t), "named.db");
  process.env.MINTMARK_STORE = path;
  t.after(() => delete process.env.MINTMARK_STORE);
  const m = await Mintmark.start();
  t.after(() => m.close());
  await shop(m);
  assert.ok(existsSync(path));
});

test("the store option takes precedence over the environment", async (t) => {
  const path = folder(t);
  const elsewhere = join(path, "elsewhere.db");
  process.env.MINTMARK_STORE = elsewhere;
  t.after(() => delete process.env.MINTMARK_STORE);
  const m = client(t, { app: "shop", env: { XDG_DATA_HOME: path } });
  await shop(m);
  assert.ok(existsSync(join(path, "mintmark", "shop.db")));
  assert.ok(!existsSync(elsewhere));
});

test("options reach the process", async (t) => {
  const m = await testing(t, { region: "moon-1", account: "123456789012", issuer: "https://shop.test", clock: 1_700_000_000 });
  const info = await m.system.info();
  assert.equal(info.region, "moon-1");
  assert.equal(info.account, "123456789012");
  assert.equal(info.issuer, "https://shop.test");
  assert.ok(Math.abs((await m.system.ping()).now - 1_700_000_000) < 60);
});

test("close waits for calls in flight, and later calls reject", async (t) => {
  const m = await testing(t);
  const { pid } = m;
  const calls = Array.from({ length: 100 }, () => m.system.ping());
  await new Promise(setImmediate);
  await m.close();
  assert.equal((await Promise.all(calls)).length, 100);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  await assert.rejects(m.system.ping(), ClientClosed);
  await m.close();
});

test("close kills the process after its time limit", async (t) => {
  const m = await testing(t);
  process.kill(m.pid, "SIGSTOP");
  const call = m.system.ping();
  const rejected = assert.rejects(call, (error) => error instanceof ProcessEnded && error.signal === "SIGKILL");
  await new Promise(setImmediate);
  await m.close({ timeoutMs: 50 });
  await rejected;
});

test("a child process that holds the output open does not delay the end", async (t) => {
  const path = join(folder(t), "wrapper");
  const wrapper = (words) => {
    writeFileSync(path, `#!/bin/sh\nsleep 600 & echo $! >"${path}.child"\n${words}\nwait\n`, { mode: 0o755 });
    return path;
  };
  const end = () => process.kill(Number(readFileSync(`${path}.child`, "utf8")));
  await assert.rejects(Mintmark.start({ store: ":memory:", binary: wrapper("echo Welcome"), stderr: "ignore" }), ProtocolError);
  end();
  const lines = [];
  const m = client(t, { binary: wrapper("echo word >&2"), stderr: (line) => lines.push(line) });
  const rejected = assert.rejects(m.system.ping(), ProcessEnded);
  while (lines.length === 0) await new Promise(setImmediate);
  await m.close({ timeoutMs: 50 });
  await rejected;
  end();
});

test("asyncDispose closes the client", { skip: !Symbol.asyncDispose && "this Node has no Symbol.asyncDispose" }, async (t) => {
  const m = await testing(t);
  await m[Symbol.asyncDispose]();
  await assert.rejects(m.system.ping(), ClientClosed);
});

/** Runs a script that prints the ID of a process, and checks that both end. */
async function endsWithNode(options, script) {
  const index = JSON.stringify(new URL("../src/index.js", import.meta.url));
  const whole = `import { Mintmark } from ${index}; const m = new Mintmark(${options}); ${script}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", whole], { timeout: 20_000 });
  const pid = Number(stdout);
  assert.ok(pid > 0, stdout);
  for (let turn = 0; turn < 500; turn++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`process ${pid} goes on`);
}

test("an idle client does not keep Node or the process running, and a waiting call does", async () => {
  await endsWithNode('{ store: ":memory:" }', 'm.pool.create({ name: "shop" }).then(() => console.log(m.pid));');
  await endsWithNode('{ store: ":memory:", stderr() {} }', 'm.pool.create({ name: "shop" }).then(() => console.log(m.pid));');
});

test("a call that was not sent does not keep Node running", async () => {
  const script = 'm.token.verify({ token: "\\ud83e", audience: "a" }).catch(() => console.log(m.pid));';
  await endsWithNode('{ store: ":memory:" }', script);
});
