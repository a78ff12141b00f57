/** Only its owner may look at what holds keys. */
import { constants } from "node:fs";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";
import type { AuthNotice } from "./failure.ts";

/** What others may do, and must not be able to. */
const others = 0o077;

/** The mode a file or directory should have instead; undefined when it is private already. */
export const tighterMode = (mode: number): number | undefined =>
  (mode & others) === 0 ? undefined : mode & 0o7777 & ~others;

/** Takes away what others may do at `path`. Undefined when there was nothing to do, or there is nothing there. */
export async function tighten(fs: FileSystem, path: string): Promise<AuthNotice | undefined> {
  // There are no such modes there; what counts is the person's own directory.
  if (process.platform === "win32") return undefined;
  try {
    const found = await lookAt(fs, path);
    const mode = found && tighterMode(found.mode);
    if (mode === undefined) return undefined;
    // A pipe would be waited for.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    const message = `${path} was open to other users of this machine; now only you may use it. If others had access, replace the keys in it.`;
    return { kind: "permissions", message, path };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = `${path} is open to other users of this machine, and that could not be changed (${code}). Run: chmod go-rwx ${JSON.stringify(path)}`;
    return { kind: "permissions", message, path };
  }
}
