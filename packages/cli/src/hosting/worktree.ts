/** `--worktree`: a session in a worktree of the repository. */
import { realpath } from "node:fs/promises";
import { systemIds } from "@tau/ai";
import { readTrust, writeTrust } from "@tau/config/trust";
import { findWorktreeOrigin, openOwnWorktree, type OwnWorktree } from "@tau/features/agents";
import type { Io } from "../commands/command.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { getAgentDir } from "./agent-dir.ts";

/** Runs a session as if the program was started in the worktree, which is removed afterwards if it holds no changes. */
export async function runInWorktree<T>(
  { worktree: name, quiet }: SessionOptions,
  io: Io,
  run: (io: Io) => Promise<T>,
): Promise<T> {
  const agentDir = getAgentDir(io);
  const worktree = await openOwnWorktree({
    cwd: await realpath(io.cwd),
    agentDir,
    ...(typeof name === "string" && { name }),
  });
  try {
    await shareTrust(io.cwd, worktree.cwd, agentDir);
    return await run({ ...io, cwd: worktree.cwd });
  } finally {
    await finish(worktree, io, { agentDir, quiet });
  }
}

async function finish(
  worktree: OwnWorktree,
  io: Io,
  { agentDir, quiet }: { agentDir: string; quiet: boolean },
): Promise<void> {
  const { cwd, path, branch } = worktree;
  const end = await worktree.finish();
  if (end.kind === "removed") {
    await writeTrust({ cwd, agentDir, ids: systemIds }, false);
    if (!quiet) io.err(`Nothing was changed in the worktree ${branch}, so it was removed.\n`);
    return;
  }
  const count = end.files.length === 1 ? "1 file" : `${end.files.length} files`;
  io.err(`The worktree ${path} was kept: ${count} changed, on the branch ${branch}.\n`);
  io.err(`To continue there: tau --worktree=${branch} -c. To remove it: tau worktrees remove ${end.name}\n`);
}

/** Trusts the worktree as the project, if all files that trust is about are the same. */
async function shareTrust(from: string, cwd: string, agentDir: string): Promise<void> {
  const digest = await findSharedDigest(from, cwd, agentDir);
  if (digest?.isTrusted) await writeTrust({ cwd, agentDir, ids: systemIds }, true, digest.digest);
}

/** Undefined if the files differ, or nobody could look at them. */
async function findSharedDigest(from: string, cwd: string, agentDir: string) {
  const read = (directory: string) => readTrust({ cwd: directory, agentDir }).catch(() => undefined);
  const [project, own] = await Promise.all([read(from), read(cwd)]);
  if (!project || project.digest !== own?.digest) return undefined;
  return { isTrusted: project.trusted, digest: project.digest };
}

/**
 * Finds the project whose remembered permissions apply in a worktree: that in which it was made, if all files that trust is about are
 * the same. Undefined for any other directory.
 */
export async function findPermissionsDirectory(cwd: string, agentDir: string): Promise<string | undefined> {
  const origin = await findWorktreeOrigin({ cwd, agentDir });
  if (origin === undefined) return undefined;
  return (await findSharedDigest(origin, cwd, agentDir)) && origin;
}
