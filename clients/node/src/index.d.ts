export * from "../generated/errors.js";
export * from "../generated/types.js";
export * from "../generated/methods.js";
export * from "../generated/options.js";
export * from "./client.js";
export * from "./errors.js";
export * from "./lists.js";
export * from "./provider.js";
