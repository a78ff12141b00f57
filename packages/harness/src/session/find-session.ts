/** Finds the session file that the user refers to. */
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { HarnessError } from "../errors.ts";
import { SessionManager } from "./session-manager.ts";

/** `reference` is a path, an id, or the unique beginning of an id. Sessions of `cwd` come first. */
export async function findSession(
  reference: string,
  { cwd, agentDir, directory }: { cwd: string; agentDir: string; directory: string | undefined },
): Promise<string> {
  // An unset variable in a script must not match a session.
  if (reference.trim() === "")
    throw new HarnessError("invalid_input", "The session reference is empty. `tau sessions list` shows the sessions.");
  const path = resolve(cwd, reference);
  if (await isFile(path)) return await mustBeSession(path);
  const ownSessions = await SessionManager.list(cwd, directory, { agentDir });
  for (const sessions of [ownSessions, await SessionManager.listAll({ agentDir })]) {
    const exact = sessions.find(({ id }) => id === reference);
    if (exact) return exact.path;
    const matches = sessions.filter(({ id }) => id.startsWith(reference));
    if (matches.length === 1) return matches[0]!.path;
    if (matches.length > 1) {
      const ids = matches.slice(0, 5).map(({ id }) => id);
      throw new HarnessError(
        "invalid_input",
        `${JSON.stringify(reference)} matches several sessions: ${ids.join(", ")}. Give more of the id.`,
      );
    }
  }
  const message = `There is no session ${JSON.stringify(reference)}. \`tau sessions list\` shows the sessions of this directory.`;
  throw new HarnessError("session_not_found", message);
}

/** Checks a file before it is opened as a session, since opening puts a lock file beside it. */
export async function mustBeSession(path: string): Promise<string> {
  if (!(await isFile(path)))
    throw new HarnessError("invalid_input", `${path} is not a session file (it is not a regular file).`);
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    // An empty file, or the zeros that a crash leaves, can become a session. Otherwise a JSON object must begin a line.
    if (bytesRead === 0 || start.includes(0) || /(?:^|\n)\s*\{/.test(start.toString("latin1"))) return path;
    throw new HarnessError("invalid_input", `${path} is not a session file (no header, no entries).`);
  } finally {
    await handle.close();
  }
}

const startBytes = 64 * 1024;

async function isFile(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() ?? false;
}
