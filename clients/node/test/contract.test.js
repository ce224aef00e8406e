import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as mintmark from "../src/index.js";
import { client, schema } from "./support.js";

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("every method of the contract exists, with its summary as doc comment in scripts and declarations", (t) => {
  const m = client(t);
  for (const method of schema("openrpc.json").methods) {
    const [namespace, verb] = method.name.split(".");
    assert.equal(typeof m[namespace]?.[verb], "function", method.name);
    for (const file of [`generated/methods/${namespace}.js`, `generated/methods/${namespace}.d.ts`]) {
      const members = read(file).split(/^export (?:declare )?class/m)[1];
      const comment = members.match(new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*${verb}\\(`))?.[1];
      assert.ok(comment?.includes(method.summary), `${method.name} in ${file}`);
    }
  }
});

test("every error of the contract has a class with its code and its type", () => {
  const { errors } = schema("errors.json");
  assert.ok(errors.length > 50);
  for (const { code, type } of errors) {
    const name = type[0].toUpperCase() + type.slice(1);
    const Known = mintmark[name];
    assert.equal(Known?.code, code, type);
    assert.equal(Known.type, type);
    assert.equal(mintmark.errorsByCode.get(code), Known);
    const error = new Known({ code, message: "so", data: { type } });
    assert.ok(error instanceof mintmark.RpcError && error instanceof mintmark.MintmarkError && error instanceof Error);
    assert.equal(error.name, name);
    assert.ok(read("generated/errors.d.ts").includes(`export declare class ${name} extends RpcError {`));
  }
});

test("the package has the version of the contract and no dependencies", () => {
  const { version, dependencies } = JSON.parse(read("package.json"));
  assert.equal(version, schema("service.json").version);
  assert.equal(version, mintmark.contractVersion);
  assert.equal(dependencies, undefined);
});
