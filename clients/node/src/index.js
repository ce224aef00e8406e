// The Node client of Mintmark: see ../README.md.
export * from "../generated/errors.js";
export { contractVersion } from "../generated/namespaces.js";
export { Mintmark } from "./client.js";
export * from "./errors.js";
export { CredentialsProvider } from "./provider.js";
export { BinaryTooOld } from "./too-old.js";
