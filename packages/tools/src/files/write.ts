import { resolve } from "node:path";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import type { DescribedTool } from "../tool.ts";
import { countBreaks, countLines, formatBytes } from "../truncate.ts";
import { summariseChanges } from "./diff.ts";
import { aloneWith, type EditorPorts } from "./file-queue.ts";
import { noteWritten, refuseUnseen } from "./seen-files.ts";
import { showName } from "./show-name.ts";
import { resolveNew } from "./path.ts";
import { refuseBinary } from "./sniff.ts";
import { decodeText } from "./text-file.ts";

export interface WriteDetails {
  path: string;
  bytes: number;
  lines: number;
  /** Whether there was no such file before. */
  isNew: boolean;
  /** Unified. Absent if the file is new or has the same content as before, or if either content is large or not text. */
  diff?: string;
}

/** Larger texts are not compared: at worst, this many bytes take about 0.1 s. */
const maxComparedBytes = 256 * 1024;

/** Creates a file, or replaces all of one. With `seen`, only one that the model knows as it is. */
export function createWriteTool({
  cwd,
  files: ownFiles,
  queue,
  seen,
}: EditorPorts & { cwd: string }): DescribedTool<ParametersOf<"write">, WriteDetails> {
  return {
    ...definitions.write,
    async execute(_id, { path: typed, content }, signal, _onUpdate, context) {
      const files = context?.files ?? ownFiles;
      const bytes = Buffer.from(content);
      const find = async () => {
        const path = await resolveNew(files, cwd, typed);
        return [{ path, realPath: await files.realPath(path, "write") }];
      };
      const { path, realPath, isNew, diff } = await aloneWith(queue, signal, find, async ([file], beginWriting) => {
        const { path, realPath: target } = file!;
        const stats = seen && (await files.stat(target));
        const stamp = seen && refuseUnseen(seen, { realPath: target, typed, stats });
        const diff = await compareWithFile(files, target, { bytes, name: typed });
        beginWriting();
        const written = await files.writeWhole(target, bytes, {
          ...(stamp !== undefined && { ifUnchanged: stamp }),
        });
        noteWritten(seen, written);
        return { path, realPath: written.realPath, isNew: written.created, diff };
      });
      const lines = lineCount(content);
      const what = `${countLines(lines)} (${formatBytes(bytes.length)})`;
      const name = getName(typed, { cwd, realPath });
      const text = isNew ? `Created ${name}: ${what}.` : `Replaced the content of ${name}: ${what}.`;
      const details = { path, bytes: bytes.length, lines, isNew, ...(diff !== undefined && !isNew && { diff }) };
      return { content: [{ type: "text", text }], details };
    },
  };
}

/** Undefined if there is nothing to compare. Nobody waits for the diff, so a file that cannot be read is no failure here. */
async function compareWithFile(
  files: Files,
  path: string,
  { bytes, name }: { bytes: Buffer; name: string },
): Promise<string | undefined> {
  if (bytes.length > maxComparedBytes) return undefined;
  try {
    const { bytes: before } = await files.readWhole(path, maxComparedBytes, { expected: bytes });
    if (before.equals(bytes)) return undefined;
    for (const content of [before, bytes]) refuseBinary(content, name);
    const source = decodeText(before);
    return summariseChanges(source, [{ from: 0, to: source.length, text: bytes.toString() }], name).diff;
  } catch (error) {
    if (error instanceof ToolsError) return undefined;
    throw error;
  }
}

/** Also says where the file was written, if that is not the typed path: behind a link, or under another spelling. */
const getName = (typed: string, { cwd, realPath }: { cwd: string; realPath: string }): string =>
  resolve(cwd, typed) === realPath ? typed : `${typed} (${showName(realPath)})`;

/** The break after the last line does not begin another one. */
const lineCount = (text: string): number => countBreaks(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
