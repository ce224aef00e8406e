import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./support.js";

const node = dirname(dirname(fileURLToPath(import.meta.url)));
const isThere = spawnSync("tsc", ["--version"]).status === 0;
const skip = !isThere && "there is no tsc: apt-get install node-typescript";

for (const resolution of ["node16", "node"]) {
  test(`TypeScript accepts valid uses and rejects invalid ones, with moduleResolution ${resolution}`, { skip }, (t) => {
    const path = folder(t);
    mkdirSync(join(path, "node_modules"));
    symlinkSync(node, join(path, "node_modules/mintmark"));
    copyFileSync(join(node, "test/uses.ts"), join(path, "uses.ts"));
    writeFileSync(join(path, "package.json"), '{"type": "module"}');
    const module = resolution === "node" ? "esnext" : resolution;
    const found = spawnSync(
      "tsc",
      ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022", "--module", module, "--moduleResolution", resolution, "uses.ts"],
      { cwd: path, encoding: "utf8" },
    );
    assert.equal(found.stdout + found.stderr, "");
    assert.equal(found.status, 0);
  });
}
