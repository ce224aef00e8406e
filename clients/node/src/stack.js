import { MintmarkError } from "./errors.js";

/**
 * Makes the stack of an error of this client begin at the caller.
 * @param {unknown} error is returned; other errors are not changed.
 * @param {Function} entry the outermost function of the client on the stack.
 */
export function atCaller(error, entry) {
  if (error instanceof MintmarkError) Error.captureStackTrace(error, entry);
  return error;
}
