/** Removes directories whatever is in them. */
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tolerate, unlessMissing } from "@tau/tools/platform";

/** Also directories that a command made read-only. Never follows a link. */
export async function removeTree(path: string): Promise<void> {
  const remove = async () => {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    return true;
  };
  if (await tolerate(remove(), "EACCES", "EPERM", "ENOTEMPTY")) return;
  await giveRights(path);
  await remove();
}

async function giveRights(path: string): Promise<void> {
  const stats = await unlessMissing(lstat(path));
  if (!stats?.isDirectory()) return;
  await tolerate(chmod(path, 0o700), "EPERM", "ENOENT");
  for (const entry of (await tolerate(readdir(path, { withFileTypes: true }), "EACCES", "ENOENT")) ?? []) {
    if (entry.isDirectory()) await giveRights(join(path, entry.name));
  }
}
