// Reads JSON texts from a file, one per line, and prints one line for each: the value it read and the value it wrote.
//
//     <value read> <value written> <written text in hexadecimal>
//
// Strings are UTF-16 code units in hexadecimal, and numbers are the bits of the double. Members are sorted by the code units of their
// names, because JavaScript does not preserve the order of names that look like integers.

import { readFileSync } from "node:fs";

function hex(text) {
  let units = "";
  for (let i = 0; i < text.length; i++) units += text.charCodeAt(i).toString(16).padStart(4, "0");
  return units;
}

function bits(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

function canonical(value) {
  if (value === null) return "n";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (typeof value === "string") return "s" + hex(value);
  if (typeof value === "number") return "d" + bits(value);
  if (Array.isArray(value)) return "[" + value.map((each) => canonical(each) + ",").join("") + "]";
  const members = Object.keys(value).map((name) => [hex(name), value[name]]);
  members.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return "{" + members.map(([name, each]) => `s${name}:${canonical(each)},`).join("") + "}";
}

// JSON.stringify writes null for an infinity and 0 for -0.
const writable = (_, value) => (typeof value !== "number" ? value : Number.isFinite(value) ? value + 0 : null);

const lines = readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1);
const answers = lines.map((line, place) => {
  const value = JSON.parse(line);
  const written = JSON.stringify(value, undefined, [0, 2, "\t"][place % 3]);
  return `${canonical(value)} ${canonical(JSON.parse(line, writable))} ${Buffer.from(written).toString("hex")}\n`;
});
process.stdout.write(answers.join(""));
