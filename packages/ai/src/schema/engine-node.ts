/**
 * The JSON Schema engine under Node, loaded with the first schema instead of at start: it is more code than the rest of
 * the package's front together. Validation is synchronous, so the build keeps the engine in a file for `require`.
 */
import type * as Engine from "./engine.ts";

const engine = (): typeof Engine =>
  process.getBuiltinModule("node:module").createRequire(import.meta.url)("./engine.cjs") as typeof Engine;

export const Check = ((...args: Parameters<typeof Engine.Check>) => engine().Check(...args)) as typeof Engine.Check;

export const Compile = ((...args: Parameters<typeof Engine.Compile>) =>
  engine().Compile(...args)) as typeof Engine.Compile;
