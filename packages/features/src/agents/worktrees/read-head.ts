/** Reads which commit is checked out, without git: the settings of that repository must not be read. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { closeAfter } from "@tau/ai/internal";
import { tolerate } from "@tau/tools/platform";
import { isObjectName } from "./git.ts";

const maxBytes = 50 * 1024 * 1024;

/** Undefined if that cannot be told. `directory` is the git directory. */
export async function readHead(directory: string): Promise<string | undefined> {
  const head = (await readText(join(directory, "HEAD")))?.trim() ?? "";
  if (isObjectName(head)) return head;
  const ref = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
  if (ref === undefined || ref.includes("..")) return undefined;
  const loose = (await readText(join(directory, ref)))?.trim() ?? "";
  if (isObjectName(loose)) return loose;
  const packed = (await readText(join(directory, "packed-refs"))) ?? "";
  const name =
    packed
      .split("\n")
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(" ")[0] ?? "";
  return isObjectName(name) ? name : undefined;
}

/** Undefined for what is not a regular file. */
async function readText(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await tolerate(open(path, flags), "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO", "EISDIR");
  return (
    file &&
    (await closeAfter(file, async () => {
      const stats = await file.stat();
      return stats.isFile() && stats.size <= maxBytes ? await file.readFile("utf8") : undefined;
    }))
  );
}
