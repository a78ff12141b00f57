import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { refuseAborted } from "../files/abort.ts";
import { resolveReal } from "../files/path.ts";
import type { DescribedTool } from "../tool.ts";
import { editFiles, type FileEdits, type HashlineChange, type HashlinePorts } from "./edit-files.ts";
import { type PatchSection, parsePatch } from "./patch-text.ts";

export interface HashlinePatchDetails {
  files: HashlineChange[];
}

/** Edits lines of several files, all or none. */
export function createHashlinePatchTool({
  cwd,
  ...ownPorts
}: HashlinePorts & { cwd: string }): DescribedTool<ParametersOf<"hashline_patch">, HashlinePatchDetails> {
  return {
    ...definitions.hashline_patch,
    async execute(_id, { patch }, signal, _onUpdate, context) {
      const ports = { ...ownPorts, files: context?.files ?? ownPorts.files };
      const sections = parsePatch(patch);
      const find = async () => {
        const targets = new Map<string, FileEdits>();
        for (const section of sections) {
          refuseAborted(signal);
          addSection(targets, section, await resolveReal(ports.files, cwd, section.path));
        }
        return [...targets.values()];
      };
      const { text, changes } = await editFiles(ports, find, signal);
      return { content: [{ type: "text", text }], details: { files: changes } };
    },
  };
}

function addSection(
  targets: Map<string, FileEdits>,
  { path: typed, tag, edits }: PatchSection,
  { path, realPath }: { path: string; realPath: string },
): void {
  const known = targets.get(realPath);
  if (known && known.fileTag !== tag) {
    throw new ToolsError(
      "invalid_input",
      `Two sections are of one file (${known.typed}, ${typed}) with different tags. Use the tag that was shown last for both.`,
    );
  }
  if (known) known.edits.push(...edits);
  else targets.set(realPath, { typed, path, realPath, edits, fileTag: tag });
}
