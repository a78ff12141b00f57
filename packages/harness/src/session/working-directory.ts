import { realpath } from "node:fs/promises";
import { HarnessError } from "../errors.ts";
import type { SessionManager } from "./session-manager.ts";

/**
 * Where a session that is opened in `cwd` works: there if it belongs there or does not say where, else in its own
 * directory. Throws `invalid_input` if that is not there any more: its tools must not work on files of another project.
 */
export async function getWorkingDirectory(session: SessionManager, cwd: string): Promise<string> {
  const own = session.getCwd();
  if (own === "" || own === cwd) return cwd;
  const path = await toRealPath(own);
  if (path === undefined) {
    throw new HarnessError(
      "invalid_input",
      `${describe(session)}, which is not there any more. ${suggestFork(session)}`,
    );
  }
  return path === (await toRealPath(cwd)) ? cwd : own;
}

/** Throws `invalid_input` unless the session works in `cwd`. */
export async function mustWorkIn(session: SessionManager, cwd: string): Promise<void> {
  if ((await getWorkingDirectory(session, cwd)) === cwd) return;
  throw new HarnessError(
    "invalid_input",
    `${describe(session)}, not to ${cwd}. Open it there. ${suggestFork(session)}`,
  );
}

const toRealPath = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

const describe = (session: SessionManager) => `The session ${session.id} belongs to ${session.getCwd()}`;

const suggestFork = (session: SessionManager) =>
  `To continue with a copy in this directory: tau --fork ${session.getSessionFile() ?? session.id}`;
