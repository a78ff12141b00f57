import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { HarnessError } from "@tau/protocol";
import type { SessionManager } from "./session-manager.ts";

/**
 * Where a session that is opened in `cwd` works: there if it belongs there or does not say where, else in its own
 * directory. If that is gone, closes the session and throws `invalid_input`: its tools must not work on other files.
 */
export async function getWorkingDirectory(session: SessionManager, cwd: string): Promise<string> {
  const own = session.getCwd();
  if (own === "" || own === cwd) return cwd;
  const path = await toRealPath(own);
  if (path === undefined) return await refuse(session, "which is not there any more.");
  return path === (await toRealPath(cwd)) ? cwd : own;
}

/** Closes the session and throws `invalid_input`, unless it works in `cwd`. */
export async function mustWorkIn(session: SessionManager, cwd: string): Promise<void> {
  const own = await getWorkingDirectory(session, cwd);
  if (own !== cwd) await refuse(session, `not to ${cwd}. Open it there.`);
}

/** Undefined if there is no such directory. */
async function toRealPath(path: string): Promise<string | undefined> {
  const stats = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined;
  return stats?.isDirectory() ? await realpath(path) : undefined;
}

async function refuse(session: SessionManager, reason: string): Promise<never> {
  await session.close();
  const fork = `To continue with a copy in this directory: tau --fork ${session.getSessionFile() ?? session.id}`;
  const message = `The session ${session.id} belongs to ${session.getCwd()}, ${reason} ${fork}`;
  throw new HarnessError("invalid_input", message);
}
