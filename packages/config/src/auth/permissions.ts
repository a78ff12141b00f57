/** Makes files and directories with keys private to their owner. */
import { constants } from "node:fs";
import { closeAfter } from "@tau/ai/internal";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";
import type { AuthNotice } from "./failure.ts";

/** The permissions of other users. */
const otherUsers = 0o077;

/** Directories of all users, such as /tmp, have it. */
const stickyBit = 0o1000;

/** The private mode. Undefined if the mode is private already, or of a directory that all users share. */
const getPrivateMode = (mode: number): number | undefined =>
  (mode & otherUsers) === 0 || (mode & stickyBit) !== 0 ? undefined : mode & 0o7777 & ~otherUsers;

/** Removes the permissions of other users. Undefined if there were none to remove, or the path does not exist. */
export async function makePrivate(fs: FileSystem, path: string): Promise<AuthNotice | undefined> {
  // Windows has no such modes; the user's own directory is private there.
  if (process.platform === "win32") return undefined;
  try {
    const stats = await lookAt(fs, path);
    const mode = stats && getPrivateMode(stats.mode);
    if (mode === undefined) return undefined;
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    await closeAfter(handle, () => handle.chmod(mode));
    const message = `${path} was accessible to other users of this machine; now it is private to you. If others had access, replace the keys in it.`;
    return { kind: "permissions", message, path };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = `${path} is accessible to other users of this machine, and that could not be changed (${code}). Run: chmod go-rwx ${JSON.stringify(path)}`;
    return { kind: "permissions", message, path };
  }
}
