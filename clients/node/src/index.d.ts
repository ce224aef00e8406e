export * from "../generated/errors.js";
export * from "../generated/types.js";
export * from "../generated/namespaces.js";
export * from "./client.js";
export * from "./errors.js";
export * from "./provider.js";
export { BinaryTooOld } from "./too-old.js";
