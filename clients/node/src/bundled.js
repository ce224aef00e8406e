import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** This system, as in the names of the npm packages that contain a program. */
const platform = `${process.platform}-${process.arch}`;

/** Returns the path of the program in the npm package for this system, or undefined if that package is not installed. */
export function bundledProgram() {
  try {
    return require.resolve(`@mintmark/${platform}/mintmark`);
  } catch {
    return undefined;
  }
}

/**
 * Returns why the packages of a release have no program for this system, in one sentence. Returns undefined if they have one, and for the client
 * from a checkout, whose package.json names no such packages.
 */
export function missingPackage() {
  const names = Object.keys(require("../package.json").optionalDependencies ?? {}).filter((name) => name.startsWith("@mintmark/"));
  if (names.length === 0 || bundledProgram()) return undefined;
  if (names.includes(`@mintmark/${platform}`)) return `Install the npm package @mintmark/${platform}, which contains the program for this system.`;
  return `No npm package contains the program for this system, ${platform}; there are ${names.join(" and ")}.`;
}
