/** The files of a package that was fetched: what must not be in them, and a digest of them. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";

/** Far more than packages have. */
const treeLimits = { maxFiles: 50_000, maxBytes: 1024 ** 3 };

/** The bits that run a file as its owner or its group. */
const specialModes = 0o6000;

interface TreeFile {
  /** From the directory, with slashes. */
  readonly name: string;
  readonly path: string;
  readonly isLink: boolean;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** In the order of their names. Throws for what is neither a file, a directory nor a link, and beyond the limits. */
async function listTree(directory: string, skips: (name: string) => boolean = () => false): Promise<TreeFile[]> {
  const files: TreeFile[] = [];
  let bytes = 0;
  const search = async (parent: string): Promise<void> => {
    for (const name of (await readdir(parent)).sort()) {
      const path = join(parent, name);
      if (skips(name)) continue;
      // Node cannot open these.
      if (name.includes("\ufffd")) refusePackage(`${JSON.stringify(name)} is not a name in UTF-8`);
      const stats = await lstat(path);
      if (stats.isDirectory()) {
        await search(path);
        continue;
      }
      const shown = relative(directory, path).split(sep).join("/");
      if (!stats.isFile() && !stats.isSymbolicLink()) refusePackage(`${JSON.stringify(shown)} is not a regular file`);
      if (stats.mode & specialModes && !stats.isSymbolicLink())
        refusePackage(`${JSON.stringify(shown)} would run as its owner`);
      const { size, mtimeMs, ctimeMs } = stats;
      bytes += size;
      files.push({ name: shown, path, isLink: stats.isSymbolicLink(), size, mtimeMs, ctimeMs });
      checkSize({ files: files.length, bytes });
    }
  };
  await search(directory);
  return files;
}

/** Throws beyond the limits. */
export function checkSize({ files, bytes }: { files: number; bytes: number }): void {
  if (files > treeLimits.maxFiles) refusePackage(`it has more than ${treeLimits.maxFiles} files`);
  if (bytes > treeLimits.maxBytes) refusePackage(`it has more than ${treeLimits.maxBytes} bytes`);
}

export function refusePackage(reason: string): never {
  throw new HarnessError("install_failed", `The package is refused: ${reason}.`);
}

/** Throws if there is a link that leads out of the directory or nowhere, a device or a pipe, or too much. */
export async function checkTree(directory: string): Promise<void> {
  const root = await realpath(directory);
  for (const { name, path, isLink } of await listTree(directory)) {
    if (!isLink) continue;
    const target = await orUndefined(realpath(path));
    if (target === undefined) refusePackage(`${JSON.stringify(name)} is a link that leads nowhere`);
    if (!isWithin(root, target)) refusePackage(`${JSON.stringify(name)} is a link that leads out of it`);
  }
}

/** Digests the names and contents of all files but those of dependencies. Equal on every computer. */
export async function digestTree(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, path, size, isLink } of await listTree(directory, (each) => each === "node_modules")) {
    hash.update(`${name}\0${isLink ? "link" : size}\0`);
    if (isLink) continue;
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  }
  return `sha256-${hash.digest("base64")}`;
}

/** The digests of all files but those of dependencies, by name. A link has the digest of the path that it has. */
export async function digestFiles(directory: string): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const { name, path, isLink } of await listTree(directory, (each) => each === "node_modules")) {
    const hash = createHash("sha256");
    if (isLink) hash.update(`link\0${await readlink(path)}`);
    else for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    digests.set(name, hash.digest("base64"));
  }
  return digests;
}

/** Changes when any file of the tree is written, added or removed on this computer. Reads no contents. */
export async function fingerprintTree(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, size, mtimeMs, ctimeMs } of await listTree(directory)) {
    hash.update(`${name}\0${size}\0${mtimeMs}\0${ctimeMs}\0`);
  }
  return hash.digest("hex");
}
