/** Makes a function of compiled code. */
import { compileFunction } from "node:vm";
import { CompileError } from "./compile.ts";

/** The names under which a module sees what belongs to it. It may declare these names itself. */
export const moduleParameters = [
  "exports",
  "require",
  "module",
  "__filename",
  "__dirname",
  "require$",
  "import$",
  "importMeta$",
] as const;

const globalNames = [
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "process",
] as const;

export interface ModuleFunction {
  /** Runs the code once. Names that `scope` lacks are those of the process. */
  run(scope: Readonly<Record<string, unknown>>): unknown;
  /** The code waits at its top level, and `run` gives a promise. */
  isAsync: boolean;
}

/** Throws a `CompileError` with the file and the line of a mistake. */
export function createModuleFunction(path: string, code: string): ModuleFunction {
  const run = compile(path, code, "");
  if (typeof run === "function") return { run, isAsync: false };
  // Only code that waits at its top level is valid as the body of an async function and of no other.
  const runAsync = /\bawait\b/.test(code) ? compile(path, code, "async ") : run;
  if (typeof runAsync === "function") return { run: runAsync, isAsync: true };
  throw new CompileError(describeSyntaxError(path, runAsync), { cause: runAsync });
}

/** The code is the body of an inner function, so that it may declare a name of the parameters again. */
function compile(path: string, code: string, keyword: string): ModuleFunction["run"] | SyntaxError {
  const start = `return (${keyword}() => {`;
  const names = [...moduleParameters, ...globalNames];
  try {
    const body = compileFunction(`${start}${code}\n}).call(this)`, names, {
      filename: path,
      columnOffset: -start.length,
    });
    return (scope) =>
      body.apply(
        scope["exports"],
        names.map((name) => (name in scope ? scope[name] : (globalThis as Record<string, unknown>)[name])),
      ) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** V8 names the position in the first line of the stack. */
function describeSyntaxError(path: string, error: SyntaxError): string {
  const line = (error.stack ?? "").startsWith(`${path}:`) ? /^:(\d+)/.exec(error.stack!.slice(path.length))?.[1] : "";
  return `${path}${line ? `:${line}` : ""}: ${error.message}`;
}
