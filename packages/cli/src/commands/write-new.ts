/** Files that are there whole or not at all. */
import { link, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { systemIds } from "@tau/ai";
import { nodeFileSystem } from "@tau/tools";

export interface NewFile {
  path: string;
  text: string;
  /** Default 0600. */
  mode?: number;
  /** What is there gives way. Default: then it fails with `EEXIST`. */
  replaces?: boolean;
}

export async function writeNew({ path, text, mode = 0o600, replaces = false }: NewFile): Promise<void> {
  // Node's own way never gives up below /proc.
  await nodeFileSystem.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${systemIds()}`;
  try {
    const handle = await open(draft, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link, unlike a new name, never takes the place of something.
    if (!replaces) await link(draft, path);
    else await rename(draft, path);
  } finally {
    await unlink(draft).catch(ifGone);
  }
}

function ifGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
