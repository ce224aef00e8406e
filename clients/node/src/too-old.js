import { contractVersion } from "../generated/namespaces.js";
import { MethodNotFound } from "../generated/errors.js";

const advice = "Build or install the newer one; `mintmark --version` says what it is, MINTMARK_BINARY or { binary } names another.";

/** The version in a response to `system.info`, if it is below that of the contract; otherwise undefined. */
export function oldVersion(answer) {
  const version = answer.result?.version;
  return typeof version === "string" && isBelow(version, contractVersion) ? version : undefined;
}

function isBelow(version, other) {
  const [left, right] = [version, other].map((each) => each.split("-")[0].split(".").map(Number));
  const place = right.findIndex((number, place) => number !== (left[place] ?? 0));
  return place >= 0 && (left[place] ?? 0) < right[place];
}

/** The program is older than this client, or lacks one of its methods. */
export class BinaryTooOld extends MethodNotFound {
  constructor(error, binary) {
    super({
      ...error,
      message:
        `${binary} has no method ${error.method}: it is older than this client, which was made for Mintmark ${contractVersion}. ` +
        advice,
    });
    this.binary = binary;
  }

  /** Creates the error for a program that reports the given version. */
  static ofVersion(version, method, binary) {
    const error = new this({ code: MethodNotFound.code, data: { type: MethodNotFound.type, method }, method }, binary);
    error.message = `${binary} is Mintmark ${version}, older than this client, which was made for ${contractVersion}. ${advice}`;
    return error;
  }
}
