import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./support.js";

const node = fileURLToPath(new URL("..", import.meta.url));
const skip = spawnSync("npm", ["--version"]).status !== 0 && "there is no npm";

test("the package has the metadata of a registry, and ships every file that it exports", () => {
  const described = JSON.parse(readFileSync(join(node, "package.json"), "utf8"));
  for (const name of ["description", "keywords", "author", "homepage", "repository", "bugs", "engines", "files"]) {
    assert.ok(described[name], name);
  }
  for (const { types, default: script } of [described.exports["."], described.exports["./testing"]]) {
    for (const path of [types, script]) assert.ok(existsSync(join(node, path)), path);
  }
  assert.equal(described.engines.node, "^20.19 || >=22.12");
});

test("the package installs without a network and works after installation", { skip }, (t) => {
  const path = folder(t);
  const env = { ...process.env, npm_config_cache: join(path, "cache"), npm_config_offline: "true", npm_config_update_notifier: "false" };
  const run = (command, ...words) => execFileSync(command, words, { cwd: path, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [packed] = JSON.parse(run("npm", "pack", "--json", node));
  const files = packed.files.map((file) => file.path);
  for (const file of ["README.md", "src/index.js", "src/index.d.ts", "generated/types.d.ts"]) assert.ok(files.includes(file), file);
  assert.ok(!files.some((file) => file.startsWith("test/")));
  writeFileSync(join(path, "package.json"), '{"type": "module"}');
  run("npm", "install", "--no-audit", "--no-fund", join(path, packed.filename));
  writeFileSync(
    join(path, "use.js"),
    'import { TestingClient } from "mintmark/testing"; const m = await TestingClient.start(); console.log((await m.system.info()).testing); await m.close();',
  );
  assert.equal(run(process.execPath, "use.js"), "true\n");
  // The engines in package.json load ES modules with require. The Node.js of a Debian system can be older.
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!isSupported) return t.diagnostic(`Node.js ${process.versions.node} is older than the package requires: require is not tested`);
  assert.match(run(process.execPath, "--no-warnings", "-p", 'typeof require("mintmark").Mintmark'), /^function$/m);
});

test("the program in the npm package for this system precedes the PATH and follows MINTMARK_BINARY", (t) => {
  const path = folder(t);
  const client = join(path, "node_modules", "mintmark");
  const name = `@mintmark/${process.platform}-${process.arch}`;
  const program = join(path, "node_modules", name);
  mkdirSync(client, { recursive: true });
  for (const each of ["src", "generated", "package.json"]) cpSync(join(node, each), join(client, each), { recursive: true });
  mkdirSync(program, { recursive: true });
  writeFileSync(join(program, "package.json"), JSON.stringify({ name, version: "0.1.0" }));
  symlinkSync(process.env.MINTMARK_BINARY, join(program, "mintmark"));
  const file = join(path, "use.mjs");
  writeFileSync(
    file,
    `import { Mintmark } from "mintmark";
    const m = new Mintmark({ store: ":memory:" });
    await m.system.ping().then(() => console.log("bundled"), (error) => console.log(error.message));
    await m.close();`,
  );
  const run = (env) => execFileSync(process.execPath, [file], { encoding: "utf8", env: { HOME: path, PATH: "/nowhere", ...env } });
  assert.equal(run({}), "bundled\n");
  assert.match(run({ MINTMARK_BINARY: "/nowhere/mintmark" }), /at \/nowhere\/mintmark/);

  rmSync(program, { recursive: true });
  assert.match(run({}), /named mintmark on PATH\. Install Mintmark/);
  const release = (names) => writeFileSync(join(client, "package.json"), JSON.stringify({ name: "mintmark", type: "module", exports: "./src/index.js", optionalDependencies: names }));
  release({ [name]: "0.1.0" });
  assert.match(run({}), new RegExp(`PATH\\. Install the npm package ${name},`));
  release({ "@mintmark/plan9-mips": "0.1.0" });
  assert.match(run({}), /PATH\. No npm package contains the program for this system, .*; there are @mintmark\/plan9-mips\./);
});
