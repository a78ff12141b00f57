/** Makes a function of compiled code. */
import { compileFunction } from "node:vm";
import { CompileError } from "./compile.ts";

/** The names under which a module sees what belongs to it, and what ends with the extension. It may declare them itself. */
const parameters = [
  "exports",
  "require",
  "module",
  "__filename",
  "__dirname",
  "require$",
  "import$",
  "importMeta$",
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
  readonly run: (scope: Readonly<Record<string, unknown>>) => unknown;
  /** The code waits at its top level, and `run` gives a promise. */
  readonly isAsync: boolean;
  /** V8's form of the code, with which the same version of Node makes the function in less time. */
  readonly cachedData: Buffer | undefined;
}

/** Throws a `CompileError` with the file and the line of an error. `known` is of the same code, from an earlier call. */
export function createModuleFunction(
  path: string,
  code: string,
  known?: { isAsync: boolean; cachedData: Buffer },
): ModuleFunction {
  const isAsync = known?.isAsync ?? waitsAtTopLevel(code);
  // In brackets, because V8 then expects the call and does not parse the body twice.
  const start = `return (${isAsync ? "async " : ""}function () {`;
  try {
    // The code is the body of an inner function, so that it may declare a name of the parameters again.
    const body = compileFunction(`${start}${code}\n}).call(this)`, parameters, {
      filename: path,
      columnOffset: -start.length,
      ...(known ? { cachedData: known.cachedData } : { produceCachedData: true }),
    });
    const run: ModuleFunction["run"] = (scope) =>
      body.apply(
        scope["exports"],
        parameters.map((name) => (name in scope ? scope[name] : (globalThis as Record<string, unknown>)[name])),
      ) as unknown;
    return { run, isAsync, cachedData: body.cachedData };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CompileError(describeSyntaxError(path, error), { cause: error });
  }
}

/**
 * In an ordinary function `await (x)` calls a function of that name. In a static block it is an error, and so is every other
 * form of waiting, while functions inside may wait. Code that is invalid there for another reason is taken to wait: then it
 * is only run earlier than needed, or refused for that reason.
 */
function waitsAtTopLevel(code: string): boolean {
  if (!/\bawait\b/.test(code)) return false;
  try {
    compileFunction(`class Module { static {\n${code}\n} }`);
    return false;
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}

/** V8 names the position in the first line of the stack. */
function describeSyntaxError(path: string, error: SyntaxError): string {
  const line = (error.stack ?? "").startsWith(`${path}:`) ? /^:(\d+)/.exec(error.stack!.slice(path.length))?.[1] : "";
  return `${path}${line ? `:${line}` : ""}: ${error.message}`;
}
