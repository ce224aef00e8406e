import { contractVersion } from "../generated/namespaces.js";
import { MethodNotFound } from "../generated/errors.js";

/** The program does not have a method that this client has. */
export class BinaryTooOld extends MethodNotFound {
  constructor(error, binary) {
    super({
      ...error,
      message:
        `${binary} has no method ${error.method}: it is older than this client, which was made for Mintmark ${contractVersion}. ` +
        "Build or install the newer one; `mintmark --version` says what it is, MINTMARK_BINARY or { binary } names another.",
    });
    this.binary = binary;
  }
}
