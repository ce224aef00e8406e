import { APIError } from "./errors.js";

/** The classes of the errors that Mintmark returns, by code. */
export const knownErrors = new Map();

/** Creates a class for each name of an error. The values are the codes. */
export function classes(codes) {
  const made = {};
  for (const [name, code] of Object.entries(codes)) {
    const type = name[0].toLowerCase() + name.slice(1);
    // A class in an object has the name of its member.
    const { [name]: Known } = { [name]: class extends APIError {} };
    made[name] = Object.assign(Known, { code, type });
    knownErrors.set(code, Known);
  }
  return made;
}
