/** Files with secrets: they are read only if nobody else could have read or written them. */
import { HarnessError } from "../errors.ts";
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** Links are not followed, and a pipe is not waited for. Windows has neither flag. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The content of a file of this user. Undefined if there is none. Throws a `HarnessError` for a link, a file of
 * another user, and a file that others may read or write.
 */
export function readOwnFile(path: string): string | undefined {
  const fd = openOwn(path);
  if (fd === undefined) return undefined;
  try {
    const problem = findProblem(fstatSync(fd));
    if (problem !== undefined) throw new HarnessError("unavailable", `${path} is not used: ${problem}`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

function openOwn(path: string): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP")
      throw new HarnessError("unavailable", `${path} is not used: it is a link. Remove it.`, { cause: error });
    if (code !== "EACCES") throw error;
    throw new HarnessError("unavailable", `${path} is not used: it belongs to another user.`, { cause: error });
  }
}

function findProblem(stats: Stats): string | undefined {
  if (!stats.isFile()) return "it is not a file.";
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (stats.uid !== uid) return `it belongs to another user (id ${stats.uid}).`;
  if ((stats.mode & 0o077) === 0) return undefined;
  return "others may read or write it. What is in it may be known to them: remove it, or take their rights with chmod 600.";
}
