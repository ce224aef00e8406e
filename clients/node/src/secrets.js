import { inspect } from "node:util";

const hidden = { [inspect.custom]: (_depth, options) => options.stylize("[secret]", "special") };

/**
 * Keeps secrets of a result out of `util.inspect`, and so out of `console.log`. They stay where they are, for reading and for
 * `JSON.stringify`; a copy of the object shows them.
 *
 * @param {unknown} value
 * @param {string[][]} paths `*` is every member.
 */
export function conceal(value, paths) {
  const holders = new Map();
  for (const path of paths) gather(value, path, holders);
  for (const [holder, names] of holders) {
    Object.defineProperty(holder, inspect.custom, { value: () => shown(holder, names) });
  }
  return value;
}

function gather(value, [name, ...rest], holders) {
  if (value === null || typeof value !== "object") return;
  const names = name === "*" ? Object.keys(value) : Object.hasOwn(value, name) ? [name] : [];
  if (rest.length > 0) return names.forEach((name) => gather(value[name], rest, holders));
  if (!holders.has(value)) holders.set(value, new Set());
  names.forEach((name) => holders.get(value).add(name));
}

function shown(holder, names) {
  const copy = Array.isArray(holder) ? [...holder] : { ...holder };
  for (const name of names) copy[name] = hidden;
  return copy;
}
