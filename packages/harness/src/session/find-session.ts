/** Which session file a reference of the user means. */
import { open, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { closeAfter } from "@tau/ai/internal";
import { isWithin, unlessMissing } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { isSessionStart } from "./load-log.ts";
import { sessionDirectory, sessionsRoot } from "./session-directory.ts";
import { notSession } from "./not-session.ts";
import { SessionManager } from "./session-manager.ts";

/** Where references are looked up. */
export interface SessionLookup {
  /** Relative paths are relative to it. */
  cwd: string;
  agentDir: string;
  /** Where the sessions of `cwd` are. Undefined for the default directory. */
  directory: string | undefined;
}

/** `reference` is a path, an id, or the unique beginning of an id. Sessions of this directory come first. */
export async function findSession(reference: string, { cwd, agentDir, directory }: SessionLookup): Promise<string> {
  const path = resolve(cwd, reference);
  if (await isFile(path)) return await mustBeSession(path);
  const match =
    pickSession(reference, await SessionManager.list(cwd, directory, { agentDir })) ??
    pickSession(reference, await SessionManager.listAll({ agentDir }));
  if (match) return match.path;
  const message = `There is no session ${JSON.stringify(reference)}. \`tau sessions list\` shows those of this directory.`;
  throw new HarnessError("session_not_found", message);
}

/** The session with this id, or the only one whose id begins with `reference`. Pure. */
export function pickSession<T extends { id: string }>(reference: string, sessions: readonly T[]): T | undefined {
  // An unset variable in a script must not mean any session.
  if (reference.trim() === "")
    throw new HarnessError("invalid_input", "No session was named. `tau sessions list` shows them.");
  const exact = sessions.find(({ id }) => id === reference);
  const matches = sessions.filter(({ id }) => id.startsWith(reference));
  if (exact || matches.length <= 1) return exact ?? matches[0];
  const ids = matches.slice(0, 5).map(({ id }) => id);
  throw new HarnessError(
    "invalid_input",
    `${JSON.stringify(reference)} matches several sessions: ${ids.join(", ")}. Give more of the id.`,
  );
}

/**
 * Throws for a session file outside of the session directories: what deletes or rewrites a file asks first whether the
 * user means it. `advice` is the end of the message, for those who can do something about it.
 */
export async function mustBeInSessionDirectory(
  path: string,
  { cwd, agentDir, directory = sessionDirectory(cwd, agentDir) }: SessionLookup,
  advice?: string,
): Promise<void> {
  const realPaths = await Promise.all(
    [path, directory, sessionsRoot(agentDir)].map((each) => unlessMissing(realpath(each))),
  );
  const [file, ...directories] = realPaths;
  if (directories.some((each) => each !== undefined && isWithin(each, file ?? resolve(path)))) return;
  const text = `${path} is outside of the session directories (${directory}).`;
  throw new HarnessError("invalid_input", advice === undefined ? text : `${text} ${advice}`);
}

/** Checks a file before it is opened as a session, since opening puts a lock file beside it. */
export async function mustBeSession(path: string): Promise<string> {
  if (!(await isFile(path)))
    throw new HarnessError("invalid_input", `${path} is not a session file (it is not a regular file).`);
  return await closeAfter(await open(path, "r"), async (handle) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    if (isSessionStart(buffer.subarray(0, bytesRead), (await handle.stat()).size)) return path;
    throw notSession(path);
  });
}

/** Without a header, the first message has to be in it. */
const startBytes = 1024 * 1024;

async function isFile(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() ?? false;
}
