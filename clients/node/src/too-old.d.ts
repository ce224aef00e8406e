import { MethodNotFound } from "../generated/errors.js";

/** The program is older than this client, or does not have a method that this client has. */
export declare class BinaryTooOld extends MethodNotFound {
  private constructor();
  /** The program. */
  readonly binary: string;
}
