import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as mintmark from "../src/index.js";
import { client, program, schema, testing } from "./support.js";

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("every method of the contract exists, and its declaration has its summary; test methods exist on a TestingClient only", async (t) => {
  const [m, tester] = [client(t), client(t, { testing: true })];
  for (const method of schema("openrpc.json").methods) {
    const [namespace, verb] = method.name.split(".");
    assert.equal(typeof tester[namespace]?.[verb], "function", method.name);
    assert.equal(m[namespace]?.[verb] === undefined, namespace === "test", method.name);
    const members = read(`generated/methods/${namespace}.d.ts`).split(/^export interface/m)[1];
    const comment = members.match(new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*${verb}\\(`))?.[1];
    assert.ok(comment?.includes(method.summary), method.name);
  }
});

test("every error of the contract has a class with its code and its type", () => {
  const { errors } = schema("errors.json");
  const declarations = read("generated/errors.d.ts");
  assert.ok(errors.length > 50);
  for (const { code, type } of errors) {
    const name = type[0].toUpperCase() + type.slice(1);
    const Known = mintmark[name];
    assert.equal(Known?.code, code, type);
    assert.equal(Known.type, type);
    const error = new Known({ code, message: "so", data: { type } });
    assert.ok(error instanceof mintmark.APIError && error instanceof mintmark.MintmarkError && error instanceof Error);
    assert.ok(mintmark.isKnownError(error));
    assert.equal(error.name, name);
    assert.match(declarations, new RegExp(`export declare class ${name} extends Answered<"${type}"`));
  }
  assert.ok(!mintmark.isKnownError(new mintmark.APIError({ code: 1, message: "later" })));
});

test("no public declaration contains any, and the client stays small", () => {
  const lines = (path) => read(path).split("\n").length - 1;
  const names = (folder) => readdirSync(new URL(`../${folder}`, import.meta.url)).map((name) => `${folder}/${name}`);
  const list = (folder, end) => names(folder).filter((path) => path.endsWith(end));
  const declarations = ["src", "generated", "generated/methods"].flatMap((folder) => list(folder, ".d.ts"));
  const scripts = ["src", "generated"].flatMap((folder) => list(folder, ".js"));
  for (const path of declarations) assert.doesNotMatch(read(path).replace(/\/\*\*[^]*?\*\//g, ""), /\bany\b/, path);
  const total = (paths) => paths.reduce((sum, path) => sum + lines(path), 0);
  const generated = [...list("generated", ".js"), ...list("generated", ".d.ts"), ...list("generated/methods", ".d.ts")];
  assert.ok(total(scripts) <= 1_750, `${total(scripts)} lines of JavaScript`);
  assert.ok(total(generated) <= 16_000, `${total(generated)} generated lines`);
});

test("the package has the version of the contract and no dependencies", () => {
  const { version, dependencies } = JSON.parse(read("package.json"));
  assert.equal(version, schema("service.json").version);
  assert.equal(version, mintmark.contractVersion);
  assert.equal(dependencies, undefined);
});

test("a step has the members of its state, and a state of a later program keeps its members", async (t) => {
  const m = await testing(t);
  const step = await m.signUp.start({ username: "alice@example.com" });
  const { properties, required } = schema("types/SignUpStep.json").oneOf.find((each) => each.properties.state.const === step.state);
  // `sent` is present only if no code was sent yet.
  assert.deepEqual(Object.keys(step).sort(), Object.keys(properties).filter((name) => name !== "sent").sort());
  assert.deepEqual(Object.keys(step).sort(), [...required].sort());
  const later = { state: "approvalRequired", approver: "bob" };
  const newer = client(t, { binary: program(t, `answer({ id: request.id, result: ${JSON.stringify(later)} });`) });
  assert.deepEqual({ ...(await newer.signUp.start({ username: "alice@example.com" })) }, later);
});
