/** The process rejects JSON that is nested deeper. */
const maximumDepth = 64;

/**
 * Splits a stream of chunks into lines. A line can span many chunks, and a chunk can end within a character, so bytes are decoded only
 * after their line is complete.
 */
export class LineSplitter {
  #parts = [];
  #length = 0;
  #maximum;

  /** Whether a line exceeded the maximum length. Later input is discarded. */
  isTooLong = false;

  /** @param {number} maximum the maximum length of a line, in bytes. */
  constructor(maximum) {
    this.#maximum = maximum;
  }

  /**
   * Yields the lines that `chunk` completes, without their newlines.
   * @param {Buffer} chunk
   */
  *push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      if (this.isTooLong) return;
      start = end + 1;
      yield this.rest();
    }
    this.#keep(chunk.subarray(start));
  }

  /** The bytes since the last complete line, as text. Removes them from the buffer. */
  rest() {
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    return bytes.toString("utf8");
  }

  #keep(part) {
    if (part.length === 0) return;
    this.#length += part.length;
    this.isTooLong ||= this.#length > this.#maximum;
    if (!this.isTooLong) this.#parts.push(part);
  }
}

/**
 * Checks whether Mintmark could parse a request. Mintmark returns errors about unparseable lines without the ID of their call, so such
 * lines are not sent.
 * @param {string} text the request.
 * @param {number} maximum the maximum length of a line, in bytes.
 * @param {number} depth the nesting depth of the request.
 * @returns {{code: number, message: string, data: object} | null} the error that Mintmark would return, or null.
 */
export function refusal(text, maximum, depth) {
  if (depth > maximumDepth) {
    const reason = `it nests deeper than ${maximumDepth} levels`;
    return { code: -32700, message: `This request cannot be sent: ${reason}.`, data: { type: "parseError", reason } };
  }
  // UTF-8 needs at most three bytes per UTF-16 code unit, so short strings need no counting.
  if (text.length * 3 > maximum && Buffer.byteLength(text) > maximum) {
    const reason = `it is longer than ${maximum} bytes (maxLineBytes)`;
    return { code: -32600, message: `This request cannot be sent: ${reason}.`, data: { type: "invalidRequest", reason } };
  }
  // JSON.stringify writes only unpaired surrogates as \ud… escapes; it doubles backslashes that are part of a string.
  if (text.includes("\\ud") && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    const reason = "half of a surrogate pair stands alone in a string";
    return { code: -32700, message: `This request cannot be sent: ${reason}.`, data: { type: "parseError", reason } };
  }
  return null;
}

/**
 * Checks that every value can be written as JSON, because JSON.stringify replaces or omits other values. Call it after JSON.stringify,
 * which rejects cycles.
 * @returns {number} the nesting depth of the values within a request.
 * @throws {TypeError} with the path of the first value that cannot be written.
 */
export function checkValues(value, path = "params", depth = 2) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which has no JSON.`);
  if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`${path} is a ${typeof value}, which has no JSON.`);
  if (value === null || typeof value !== "object") return depth - 1;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Map || value instanceof Set || value instanceof Promise) {
    throw new TypeError(`${path} is a ${value.constructor.name}, which has no JSON: give an array, an object or a text.`);
  }
  if (typeof value.toJSON === "function") {
    const text = value.toJSON();
    if (text === null || text === undefined) throw new TypeError(`${path} is a ${value.constructor?.name} without a JSON.`);
    return checkValues(text, path, depth);
  }
  let deepest = depth;
  for (const name of Object.keys(value)) deepest = Math.max(deepest, checkValues(value[name], `${path}.${name}`, depth + 1));
  return deepest;
}
