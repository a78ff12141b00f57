/** Limits how long a check with a server's schema may take: a pattern or a reference in it can keep a check busy for ever. */
import { createContext, Script } from "node:vm";

const limitMs = 1_000;

const script = new Script("check()");
const context: { check?: (() => unknown) | undefined } = {};

/** Runs a check, and stops it when it takes too long. Throws `CheckStopped` then, and whatever the check throws. */
export function runCheck<T>(check: () => T): T {
  if (!("check" in context)) createContext(context);
  context.check = check;
  try {
    return script.runInContext(context, { timeout: limitMs }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new CheckStopped();
  } finally {
    context.check = undefined;
  }
}

export class CheckStopped extends Error {
  override readonly name = "CheckStopped";

  constructor() {
    super(`The check took more than ${limitMs / 1_000} s and was stopped.`);
  }
}
