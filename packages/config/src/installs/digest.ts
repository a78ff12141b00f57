/** Distinguishes one content of an extension from another. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { isWithin, systemCode } from "@tau/tools/platform";
import { findFile } from "./find-file.ts";

const maxDigestFiles = 10_000;
const maxDigestBytes = 128 * 1024 * 1024;

/** A `failed` extension cannot be distinguished from another content of it, so it must not be trusted. */
type Digest = { kind: "digest"; digest: string } | { kind: "failed"; message: string };

/**
 * Over all files below a directory, except the data of git. Fails for too many or too large files, and for a link that leads
 * out of the directory: what it leads to could change.
 */
export const digestDirectory = (directory: string): Digest =>
  digest((state) => {
    const root = realpathSync.native(directory);
    return addDirectory(root, root, state);
  });

/** Over a file and the files that it names by a relative path, and so on. */
export const digestFile = (path: string): Digest =>
  digest((state) => {
    const known = new Set([path]);
    // A set also visits what is added to it meanwhile.
    for (const file of known) {
      const content = readFileSync(file);
      const message = addFile(relative(dirname(path), file), content, state);
      if (message !== undefined) return message;
      for (const other of listRelativeFiles(file, content.toString("utf8"))) known.add(other);
    }
    return undefined;
  });

interface DigestState {
  /** A line for each file. */
  readonly lines: string[];
  bytes: number;
}

/** Why the directory cannot be covered; undefined if it was. */
function addDirectory(root: string, directory: string, state: DigestState): string | undefined {
  for (const name of readdirSync(directory).sort()) {
    if (name === ".git") continue;
    const path = join(directory, name);
    const stats = lstatSync(path);
    const message = stats.isDirectory()
      ? addDirectory(root, path, state)
      : stats.isSymbolicLink()
        ? addLink(root, path, state)
        : stats.isFile()
          ? addFile(relative(root, path), stats.size > maxDigestBytes ? stats.size : readFileSync(path), state)
          : `${path} is neither a file nor a directory.`;
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Where a link inside the directory leads to is covered by itself. */
function addLink(root: string, path: string, state: DigestState): string | undefined {
  const target = realpathSync.native(path);
  if (!isWithin(root, target)) return `${path} is a link that leads out of the extension, to ${target}.`;
  return addFile(`${relative(root, path)} -> ${relative(root, target)}`, Buffer.alloc(0), state);
}

/** `content` is its size where it is too large to be read. */
function addFile(name: string, content: Buffer | number, state: DigestState): string | undefined {
  state.bytes += typeof content === "number" ? content : content.length;
  if (state.lines.length >= maxDigestFiles) return `It has more than ${maxDigestFiles} files.`;
  if (typeof content === "number" || state.bytes > maxDigestBytes) {
    return `Its files have more than ${maxDigestBytes / 1024 / 1024} MB.`;
  }
  state.lines.push(`${createHash("sha256").update(content).digest("hex")} ${name}`);
  return undefined;
}

/** `add` answers with why the files cannot be covered. What the system refuses is such a reason too. */
function digest(add: (state: DigestState) => string | undefined): Digest {
  const state: DigestState = { lines: [], bytes: 0 };
  try {
    const message = add(state);
    if (message !== undefined) return { kind: "failed", message };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return { kind: "failed", message: `Its files cannot be read: ${getErrorMessage(error)}` };
  }
  const lines = JSON.stringify(state.lines.sort());
  return { kind: "digest", digest: createHash("sha256").update(lines).digest("hex") };
}

/** All texts that are relative paths of files: more than what is imported, and never less, unless code puts names together. */
function listRelativeFiles(path: string, source: string): string[] {
  if (!/\.[cm]?[jt]sx?$/.test(path)) return [];
  const names = [...source.matchAll(/(["'`])(\.\.?\/[^"'`\n]+)\1/g)].map((match) => match[2]!);
  return names.flatMap((name) => findFile(resolve(dirname(path), name)) ?? []);
}
