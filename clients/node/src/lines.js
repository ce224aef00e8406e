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
 * @returns {{code: number, message: string, data: object} | null} the error it would answer.
 */
export function refusal(text, maximum) {
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
 * Looks whether every number in `value` has a JSON.
 * @throws {TypeError} naming where one has none.
 */
export function checkNumbers(value, path = "params") {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which has no JSON.`);
  if (value === null || typeof value !== "object") return;
  for (const [name, each] of Object.entries(value)) checkNumbers(each, `${path}.${name}`);
}
