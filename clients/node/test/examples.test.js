// Runs every example of the contract through the typed methods.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as mintmark from "../src/index.js";
import { client, folder, schema } from "./support.js";

const { fixtures, examples } = schema("examples.json");
const isName = (value) => typeof value === "string" && /^\$\w+$/.test(value);

/** Replaces names by their values. */
function fill(value, names) {
  if (isName(value)) return names.get(value);
  if (Array.isArray(value)) return value.map((each) => fill(each, names));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, names)]));
}

/** Compares the expected members. A name takes the value of its first occurrence. */
function compare(expected, actual, names) {
  if (isName(expected) && !names.has(expected)) {
    assert.notEqual(actual, undefined);
    names.set(expected, actual);
  } else if (isName(expected)) {
    assert.deepEqual(actual, names.get(expected));
  } else if (expected !== null && typeof expected === "object") {
    if (Array.isArray(expected)) assert.equal(actual.length, expected.length);
    for (const [key, each] of Object.entries(expected)) compare(each, actual[key], names);
  } else {
    assert.equal(actual, expected);
  }
}

function call(m, method, params) {
  const [namespace, verb] = method.split(".");
  return m[namespace][verb](params);
}

async function prepare(m, given, names, done = new Set()) {
  for (const name of given.filter((name) => !done.has(name))) {
    done.add(name);
    await prepare(m, fixtures[name].given, names, done);
    for (const step of fixtures[name].steps) compare(step.result, await call(m, step.method, fill(step.params, names)), names);
  }
}

for (const example of examples) {
  test(`${example.method}: ${example.name}`, async (t) => {
    // Each example has its own folder, because one of them writes a file. In examples that count calls in flight, wait for the client's own
    // system.info request before the first call.
    const counts = example.method === "system.metrics";
    const m = client(t, { testing: true, cwd: folder(t), sequential: counts });
    if (counts) await m.system.ping();
    const names = new Map();
    await prepare(m, example.given, names);
    const answer = call(m, example.method, fill(example.params, names));
    if (!example.error) return compare(example.result, await answer, names);
    const Expected = mintmark[example.error[0].toUpperCase() + example.error.slice(1)];
    await assert.rejects(answer, (error) => error instanceof Expected && error.type === example.error);
  });
}
