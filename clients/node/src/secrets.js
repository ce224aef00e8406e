import { inspect } from "node:util";

const hidden = { [inspect.custom]: (_depth, options) => options.stylize("[secret]", "special") };

/**
 * Hides the secrets of a result from `util.inspect`, and therefore from `console.log`. The values can still be read and are written by
 * `JSON.stringify`. A copy of the object shows them.
 *
 * @param {unknown} value
 * @param {string[][]} paths the paths of the secrets; `*` matches every member.
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
