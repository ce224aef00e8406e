import { contractVersion } from "../generated/methods.js";

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
