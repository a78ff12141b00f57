/** The directory that an adapter's sandbox shares with tau, for its pipe and its socket. */
import { lstat, mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireLease, isAbandoned } from "@tau/tools/platform";

interface SharedDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

const prefix = "tau-debug-";
const ourNames = /^tau-debug-\w{6}$/;
const leaseName = "owner";

const removeAll = (path: string) => rm(path, { recursive: true, force: true });

/** Makes a directory, and removes those that killed processes have left. */
export async function openSharedDirectory(): Promise<SharedDirectory> {
  await removeAbandoned().catch(() => undefined);
  const outer = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  const remove = () => removeAll(outer);
  try {
    // Outside of what the sandbox can change.
    await acquireLease(join(outer, leaseName));
    const path = join(outer, "shared");
    await mkdir(path, { mode: 0o700 });
    return { path, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => ourNames.test(name));
  for (const path of names.map((name) => join(tmpdir(), name))) {
    const stats = await lstat(path);
    const isOurs = stats.isDirectory() && stats.uid === process.getuid?.();
    if (isOurs && (await isAbandoned(join(path, leaseName)))) await removeAll(path);
  }
}
