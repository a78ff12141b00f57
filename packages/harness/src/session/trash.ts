/** Moves the files of a session to a `trash` directory beside them, and back. */
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { acquireLease } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { ifThere } from "../durable-file.ts";
import { idInFileName, isSessionFile, sessionsRoot } from "./session-directory.ts";
import { SessionManager } from "./session-manager.ts";

const trashName = "trash";

/** The files that belong to a log by their names, without those of another log whose name begins the same. Pure. */
export function findSideFiles(log: string, names: readonly string[]): string[] {
  const candidates = names.filter((name) => name.startsWith(`${log}.`));
  const otherLogs = candidates.filter(isSessionFile);
  return candidates.filter((name) => !otherLogs.some((other) => name === other || name.startsWith(`${other}.`)));
}

/** Moves a session to the trash and returns its id. Throws `read_only` while another process writes it. */
export async function trashSession(path: string): Promise<string> {
  const session = await SessionManager.open(path, { access: "read" });
  const { id, problems } = session;
  await session.close();
  if (problems.some(({ kind }) => kind === "no_session")) {
    throw new HarnessError("invalid_input", `${path} is not a session file.`);
  }
  await moveSession(path, join(dirname(path), trashName));
  return id;
}

/** Moves a session back from the trash, by its id. */
export async function restoreSession(
  id: string,
  { agentDir }: { agentDir: string },
): Promise<{ id: string; path: string }> {
  const root = sessionsRoot(agentDir);
  for (const directory of (await ifThere(readdir(root))) ?? []) {
    const trash = join(root, directory, trashName);
    const names = (await ifThere(readdir(trash))) ?? [];
    const name = names.find((file) => isSessionFile(file) && idInFileName(file) === id);
    if (name === undefined) continue;
    await moveSession(join(trash, name), join(root, directory));
    return { id, path: join(root, directory, name) };
  }
  throw new HarnessError("session_not_found", `There is no deleted session ${JSON.stringify(id)}.`);
}

async function moveSession(path: string, target: string): Promise<void> {
  const name = basename(path);
  const outcome = await acquireLease(`${path}.lock`);
  if (outcome.kind === "busy") {
    const advice = outcome.advice ?? "Close it there first.";
    throw new HarnessError("read_only", `The session ${path} is in use by process ${outcome.holder.pid}. ${advice}`);
  }
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    const sideFiles = findSideFiles(name, await readdir(dirname(path)));
    // The log is moved last: until then the session is where it was.
    for (const sideFile of sideFiles.filter((file) => !file.startsWith(`${name}.lock`))) {
      await rename(join(dirname(path), sideFile), join(target, sideFile));
    }
    await rename(path, join(target, name));
  } finally {
    await outcome.lease.release();
  }
}
