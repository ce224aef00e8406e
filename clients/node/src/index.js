// The Node client of Mintmark: see ../README.md.
export * from "../generated/errors.js";
export { contractVersion } from "../generated/methods.js";
export { Mintmark } from "./client.js";
export * from "./errors.js";
export { HookRefused } from "./hooks.js";
export { CredentialsProvider } from "./provider.js";
