/** What who writes files asks of a disk more than once. */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";

/** Makes a directory, and those above it. It is lost with the power, with all that is in it, until its name is synced. */
export async function makeDirectory(fs: FileSystem, path: string): Promise<void> {
  if (await lookAt(fs, path)) return;
  const above = dirname(path);
  if (above !== path) await makeDirectory(fs, above);
  await fs.mkdir(path, { recursive: true, mode: 0o700 });
  await syncDirectory(fs, above);
}

/** Brings the names in a directory to the disk: without its name, a file is lost with the power. */
export async function syncDirectory(fs: FileSystem, path: string): Promise<void> {
  const directory = await fs.open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Undefined for what is not there. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const code = systemCode(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    return undefined;
  }
}

/** Undefined when the system refuses: for what may be missing. */
export async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
