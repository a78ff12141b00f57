/** pi's tool `edit`, over operations that may be those of another machine. */
import { constants } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import { applyChanges, countMatches, planEdits, ToolsError } from "@tau/tools";
import { systemCode } from "@tau/tools/platform";
import * as Type from "typebox";
import { generateDiffString, generateUnifiedPatch } from "./diff.ts";
import { withFileMutationQueue } from "./file-mutation-queue.ts";
import { toPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";

interface EditOperations {
  readFile(path: string): Promise<Buffer>;
  writeFile(path: string, content: string): Promise<void>;
  /** Throws if the file cannot be read and written. */
  access(path: string): Promise<void>;
}

export interface EditToolOptions {
  /** Default: this machine's files. */
  operations?: EditOperations;
}

interface EditToolDetails {
  diff: string;
  patch: string;
  firstChangedLine?: number;
}

interface TextEdit {
  oldText: string;
  newText: string;
}

/** Earlier versions had one edit beside the path. */
type EditArguments = { path: string; edits?: TextEdit[] } & Partial<TextEdit>;

const parameters = Type.Object({
  path: Type.String({ description: "Path of the file, relative or absolute" }),
  edits: Type.Array(
    Type.Object({
      oldText: Type.String({ description: "Text that is in the file exactly once" }),
      newText: Type.String({ description: "What takes its place" }),
    }),
  ),
});

const localOperations: EditOperations = {
  readFile: (path) => readFile(path),
  writeFile: (path, content) => writeFile(path, content),
  access: (path) => access(path, constants.R_OK | constants.W_OK),
};

export function createEditTool(
  cwd: string,
  { operations = localOperations }: EditToolOptions = {},
): PiTool<EditToolDetails> {
  return createTool<EditArguments, EditToolDetails>("edit", parameters, async (args, signal) => {
    const path = toPath(cwd, args.path);
    const edits = toEdits(args);
    return await withFileMutationQueue(path, async () => {
      refuseAborted(signal);
      await operations.access(path).catch((error: unknown) => {
        throw systemCode(error) === "ENOENT" ? new Error(`File not found: ${args.path}`, { cause: error }) : error;
      });
      refuseAborted(signal);
      const before = (await operations.readFile(path)).toString("utf8");
      refuseAborted(signal);
      const after = applyEdits(before, edits, args.path);
      await operations.writeFile(path, after);
      const { diff, firstChangedLine } = generateDiffString(toShown(before), toShown(after));
      const patch = generateUnifiedPatch(args.path, before, after);
      const what = edits.length === 1 ? "text" : `${edits.length} blocks`;
      return toResult(`Successfully replaced ${what} in ${args.path}.`, {
        diff,
        patch,
        ...(firstChangedLine !== undefined && { firstChangedLine }),
      });
    });
  });
}

/** Removes characters that nobody sees: a byte order mark and carriage returns. */
const toShown = (text: string): string => text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");

const toEdits = ({ edits = [], oldText, newText }: EditArguments): TextEdit[] =>
  oldText === undefined || newText === undefined ? edits : [...edits, { oldText, newText }];

function applyEdits(before: string, edits: readonly TextEdit[], name: string): string {
  try {
    const planned = planEdits(before, edits, name);
    return applyChanges(
      before,
      planned.map(({ change }) => change),
    );
  } catch (error) {
    throw error instanceof ToolsError ? explain(error, before, edits, name) : error;
  }
}

/** With the words that pi uses, which extensions look for. */
function explain(error: ToolsError, before: string, edits: readonly TextEdit[], name: string): Error {
  if (error.code === "no_match") {
    return new Error(`Could not find the exact text in ${name}. ${error.message}`, { cause: error });
  }
  if (edits.every(({ oldText, newText }) => oldText === newText)) {
    return new Error(`No changes made to ${name}. ${error.message}`, { cause: error });
  }
  if (error.code !== "ambiguous") return error;
  const count = Math.max(...edits.map(({ oldText }) => countMatches(before, oldText)));
  return new Error(`Found ${count} occurrences of the text in ${name}. ${error.message}`, { cause: error });
}
