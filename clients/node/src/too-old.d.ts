import { MethodNotFound } from "../generated/errors.js";

/** The program is older than this client, or lacks one of its methods. */
export declare class BinaryTooOld extends MethodNotFound {
  private constructor();
  /** The program. */
  readonly binary: string;
}
