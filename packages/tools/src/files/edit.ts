import type { AgentTool, AgentToolResult } from "@tau/agent";
import type { Static } from "typebox";
import { Type } from "../schema.ts";
import { unlessAborted } from "./abort.ts";
import { summarise } from "./diff.ts";
import { aloneWith, type BeginWriting, type EditorPorts, unlessOvertaken } from "./file-queue.ts";
import { parseJson } from "./json-argument.ts";
import { applyChanges, planEdits, type PlannedEdit } from "./match.ts";
import { resolveExisting } from "./path.ts";
import { encodeText, readTextFile } from "./text-file.ts";

const parameters = Type.Object({
  path: Type.String(),
  edits: Type.Array(
    Type.Object({
      oldText: Type.String({ description: "Text to replace; must be unique in the file" }),
      newText: Type.String(),
    }),
    { minItems: 1, description: "All are matched against the original file; they must not overlap" },
  ),
});

export interface EditDetails {
  path: string;
  /** Unified. */
  diff: string;
  /** 1-based, in the new text. */
  firstChangedLine: number;
}

/** Replaces pieces of text in a file, all or none. */
export function createEditTool({
  cwd,
  files,
  queue,
}: EditorPorts & { cwd: string }): AgentTool<typeof parameters, EditDetails> {
  return {
    name: "edit",
    label: "Edit",
    description: "Edit a file by replacing exact pieces of text. Several changes to one file go into one call.",
    parameters,
    prepareArguments,
    async execute(_id, { path: given, edits }, signal) {
      const path = await unlessAborted(resolveExisting(files, cwd, given), signal);
      const change = async (realPath: string, beginWriting: BeginWriting): Promise<AgentToolResult<EditDetails>> => {
        const { source, stamp } = await readTextFile(files, realPath, given);
        const planned = planEdits(source, edits, given);
        const changes = planned.map(({ change }) => change);
        const summary = summarise(source, changes, given);
        beginWriting();
        await files.writeWhole(realPath, encodeText(applyChanges(source, changes)), { ifUnchanged: stamp });
        const text = present(given, planned, summary.firstChangedLine);
        return { content: [{ type: "text", text }], details: { path, ...summary } };
      };
      return await aloneWith({ files, queue }, path, signal, (realPath, beginWriting) =>
        unlessOvertaken(() => change(realPath, beginWriting)),
      );
    },
  };
}

function present(name: string, planned: readonly PlannedEdit[], firstChangedLine: number): string {
  const count = planned.length === 1 ? "1 replacement" : `${planned.length} replacements`;
  const loose = planned.filter(({ isLoose }) => isLoose).length;
  const note = loose > 0 ? ` ${loose} matched only with blanks, quotes or dashes normalised.` : "";
  return `Edited ${name}: ${count}, first changed line ${firstChangedLine}.${note}`;
}

/** Models also send one edit without a list around it, and the list as JSON in a string. */
function prepareArguments(args: unknown): Static<typeof parameters> {
  if (!isRecord(args)) return args as Static<typeof parameters>;
  const { oldText, newText, ...rest } = args;
  const edits = listOf(rest["edits"]);
  const single = oldText === undefined && newText === undefined ? [] : [{ oldText, newText }];
  // What is still wrong is left for the validation to name.
  const prepared = Array.isArray(edits) ? [...(edits as unknown[]), ...single] : edits;
  return { ...rest, edits: prepared } as Static<typeof parameters>;
}

function listOf(edits: unknown): unknown {
  if (edits === undefined || edits === null) return [];
  if (isRecord(edits)) return [edits];
  if (typeof edits !== "string") return edits;
  const parsed = parseJson(edits);
  return isRecord(parsed) ? [parsed] : (parsed ?? edits);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
