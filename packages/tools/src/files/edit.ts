import type { AgentToolResult } from "@tau/agent";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import type { DescribedTool } from "../tool.ts";
import { summariseChanges } from "./diff.ts";
import { aloneWith, type EditorPorts, unlessOvertaken } from "./file-queue.ts";
import { applyChanges, planEdits, type PlannedEdit } from "./match.ts";
import { resolveExisting } from "./path.ts";
import { noteWritten } from "./seen-files.ts";
import { encodeText, readTextFile } from "./text-file.ts";

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
  files: ownFiles,
  queue,
  seen,
}: EditorPorts & { cwd: string }): DescribedTool<ParametersOf<"edit">, EditDetails> {
  return {
    ...definitions.edit,
    async execute(_id, { path: typed, edits }, signal, _onUpdate, context) {
      const files = context?.files ?? ownFiles;
      const find = async () => {
        const path = await resolveExisting(files, cwd, typed);
        return [{ path, realPath: await files.realPath(path, "write") }];
      };
      return await aloneWith(queue, signal, find, ([file], beginWriting) =>
        unlessOvertaken(async (): Promise<AgentToolResult<EditDetails>> => {
          const { path, realPath } = file!;
          const { source, stamp } = await readTextFile(files, realPath, typed);
          const planned = planEdits(source, edits, typed);
          const changes = planned.map(({ change }) => change);
          const result = applyChanges(source, changes);
          if (result === source) {
            throw new ToolsError(
              "invalid_input",
              `The edits cancel each other: together they change nothing in ${typed}.`,
            );
          }
          const summary = summariseChanges(source, changes, typed);
          beginWriting();
          noteWritten(seen, await files.writeWhole(realPath, encodeText(result), { ifUnchanged: stamp }));
          const text = present(typed, planned, summary.firstChangedLine);
          return { content: [{ type: "text", text }], details: { path, ...summary } };
        }),
      );
    },
  };
}

function present(name: string, planned: readonly PlannedEdit[], firstChangedLine: number): string {
  const count = planned.length === 1 ? "1 replacement" : `${planned.length} replacements`;
  const loose = planned.filter(({ isLoose }) => isLoose).length;
  const note = loose > 0 ? ` ${loose} matched only with blanks, punctuation or letter forms normalised.` : "";
  return `Edited ${name}: ${count}, first changed line ${firstChangedLine}.${note}`;
}
