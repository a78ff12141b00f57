/** Texts in files that people show, change and save through tau, with their rights. */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { systemIds } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { formatReadFailure, namingFile, readWhole, writeWhole } from "@tau/tools/durable";
import { nodeFileSystem, systemCode, unlessMissing } from "@tau/tools/platform";

/** The largest file that is shown in a dialog. */
const maxBytes = 256 * 1024;

/** Reads a text; undefined if there is no file. Throws `HarnessError` if it cannot be read. */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    const stats = await unlessMissing(nodeFileSystem.stat(path));
    if (!stats) return undefined;
    const bytes = await readWhole(nodeFileSystem, path, maxBytes);
    if (!bytes)
      throw new HarnessError("invalid_input", `${path} is too large to be shown here. Use an editor of files.`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    const code = systemCode(error) ?? "";
    const message =
      code === "ERR_ENCODING_INVALID_ENCODED_DATA"
        ? `${path} is not text in UTF-8. Change it with an editor of files.`
        : formatReadFailure(path, code);
    throw new HarnessError("invalid_input", message, { cause: error });
  }
}

interface WrittenText {
  readonly path: string;
  /** The text that the person was shown. Undefined: there was no file. */
  readonly before: string | undefined;
  readonly text: string;
  /** A link must not lead out of this directory. Default: it may. */
  readonly within?: string;
  /** The permissions of a new file. */
  readonly mode: number;
}

/** Throws `HarnessError` if the file is no longer what the person was shown. The target of a link is changed. */
export async function writeTextFile({ path, before, text, within, mode }: WrittenText): Promise<void> {
  if (within !== undefined) await mustBeWithin(within, path);
  const bytes = Buffer.from(text);
  if (before === undefined) return await createFile({ path, bytes, mode });
  if ((await readTextFile(path)) !== before) {
    const message = `${path} was changed meanwhile, so it was not written. Look at it again.`;
    throw new HarnessError("write_failed", message);
  }
  const target = await nodeFileSystem.realpath(path);
  const { mode: ownMode } = await nodeFileSystem.stat(target);
  const change = { path: target, bytes, ids: systemIds, mode: ownMode & 0o777 };
  await namingFile(path, () => writeWhole(nodeFileSystem, change));
}

async function createFile(file: { path: string; bytes: Buffer; mode: number }): Promise<void> {
  try {
    await namingFile(file.path, () => writeWhole(nodeFileSystem, { ...file, ids: systemIds, replaces: false }));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new HarnessError("invalid_input", `${file.path} exists already, so it was not written.`, { cause: error });
  }
}

/** A link in a project must not lead a write to other files of the user. */
async function mustBeWithin(cwd: string, path: string): Promise<void> {
  const target = await resolveLinks(path);
  const inside = relative(await nodeFileSystem.realpath(cwd), target);
  if (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return;
  const message = `${path} leads to ${target}, outside of the project, so it is not written. Change that file yourself.`;
  throw new HarnessError("invalid_input", message);
}

/** Also of a file that does not exist yet. */
async function resolveLinks(path: string): Promise<string> {
  const real = await unlessMissing(nodeFileSystem.realpath(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await resolveLinks(dirname(path)), path.slice(dirname(path).length));
}
