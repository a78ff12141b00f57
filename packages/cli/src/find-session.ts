/** Where sessions are, and which one is meant. */
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { defaultAgentDir, HarnessError, SessionManager } from "@tau/harness";
import type { Io } from "./command.ts";

/** Where settings, credentials, models and sessions are. */
export const getAgentDir = ({ cwd, env }: Io): string => resolve(cwd, env["TAU_DIR"] || defaultAgentDir());

/** A path, or an id, or the beginning of one that leaves no doubt. Sessions of this directory come first. */
export async function findSession(
  given: string,
  { cwd, agentDir, directory }: { cwd: string; agentDir: string; directory: string | undefined },
): Promise<string> {
  // What a script forgot to fill in must not stand for whatever there is.
  if (given.trim() === "")
    throw new HarnessError("invalid_input", "No session was named. `tau sessions list` shows them.");
  const path = resolve(cwd, given);
  if (await isFile(path)) return await mustBeSession(path);
  const here = await SessionManager.list(cwd, directory, { agentDir });
  for (const sessions of [here, await SessionManager.listAll({ agentDir })]) {
    const exact = sessions.find(({ id }) => id === given);
    if (exact) return exact.path;
    const found = sessions.filter(({ id }) => id.startsWith(given));
    if (found.length === 1) return found[0]!.path;
    if (found.length > 1) {
      const ids = found.slice(0, 5).map(({ id }) => id);
      throw new HarnessError(
        "invalid_input",
        `${JSON.stringify(given)} could be ${ids.join(", ")}. Give more of the id.`,
      );
    }
  }
  const message = `There is no session ${JSON.stringify(given)}. \`tau sessions list\` shows those of this directory.`;
  throw new HarnessError("session_not_found", message);
}

/** Before it is opened: a lock beside a file of somebody else's may mean something to them. */
export async function mustBeSession(path: string): Promise<string> {
  if (!(await isFile(path))) throw new HarnessError("invalid_input", `${path} is no session: it is not a file.`);
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    // One of its first lines is an object; or there are none, or a crash left zeros, and it can be begun again.
    if (bytesRead === 0 || start.includes(0) || /(?:^|\n)\s*\{/.test(start.toString("latin1"))) return path;
    throw new HarnessError("invalid_input", `${path} is no session: there is neither a header nor an entry in it.`);
  } finally {
    await handle.close();
  }
}

const startBytes = 64 * 1024;

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
