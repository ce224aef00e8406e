/** JSON nested deeper is refused by the process. */
const maximumDepth = 64;

/**
 * Cuts a stream of chunks into lines. A line may span many chunks, and a character may be cut between two: bytes become
 * text only when their line is whole.
 */
export class LineSplitter {
  #parts = [];
  #length = 0;
  #maximum;

  /** Whether a line was longer than the longest; what follows is no use then. */
  isTooLong = false;

  /** @param {number} maximum the longest line, in bytes. */
  constructor(maximum) {
    this.#maximum = maximum;
  }

  /**
   * The lines that `chunk` completes, without their ends.
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

  /** What has come since the last whole line. */
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
 * Why Mintmark could not even read a line: such lines are answered without the id of their call, so they are not sent.
 * @param {string} text one request.
 * @param {number} maximum the longest line it reads, in bytes.
 * @param {number} depth how deep it nests.
 * @returns {{code: number, message: string, data: object} | null} the error it would answer.
 */
export function refusal(text, maximum, depth) {
  if (depth > maximumDepth) {
    const reason = `it nests deeper than ${maximumDepth} levels`;
    return { code: -32700, message: `This request cannot be sent: ${reason}.`, data: { type: "parseError", reason } };
  }
  // A string has at most three bytes for each of its units: short ones need no counting.
  if (text.length * 3 > maximum && Buffer.byteLength(text) > maximum) {
    const reason = `it is longer than ${maximum} bytes (maxLineBytes)`;
    return { code: -32600, message: `This request cannot be sent: ${reason}.`, data: { type: "invalidRequest", reason } };
  }
  // JSON.stringify escapes half surrogate pairs and nothing else with \ud…; a backslash of a string's own is doubled.
  if (text.includes("\\ud") && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    const reason = "half of a surrogate pair stands alone in a string";
    return { code: -32700, message: `This request cannot be sent: ${reason}.`, data: { type: "parseError", reason } };
  }
  return null;
}

/**
 * Looks whether every value has a JSON: JSON.stringify makes null or nothing at all of what has none. To be called after it, which refuses
 * what is within itself.
 * @returns {number} how deep they nest, in a request.
 * @throws {TypeError} naming where one has none.
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
