import type { AgentTool } from "@tau/agent";
import { Type } from "../schema.ts";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import { resolveReal } from "../files/path.ts";
import { editFiles, type FileEdits, type HashlineChange, type HashlineGround } from "./edit-files.ts";
import { type PatchSection, parsePatch } from "./patch-text.ts";

const parameters = Type.Object({ patch: Type.String() });

export interface HashlinePatchDetails {
  files: HashlineChange[];
}

/** Edits lines of several files, all or none. */
export function createHashlinePatchTool({
  cwd,
  ...ground
}: HashlineGround & { cwd: string }): AgentTool<typeof parameters, HashlinePatchDetails> {
  return {
    name: "hashline_patch",
    label: "Hashline patch",
    description:
      "Edit lines of several files at once, all or none. Sections start with ¶path#tag from read with hashline: true. Operations: 5↑ insert before, 5↓ insert after, 5-9: replace, 5-9! delete, BOF↑, EOF↓; then the new lines, each after a +. Numbers are as shown.",
    parameters,
    async execute(_id, { patch }, signal) {
      const targets = new Map<string, FileEdits>();
      for (const section of parsePatch(patch)) await unlessAborted(add(section, targets), signal);
      const { text, changes } = await editFiles(ground, [...targets.values()], signal);
      return { content: [{ type: "text", text }], details: { files: changes } };
    },
  };

  async function add({ path: given, tag, edits }: PatchSection, targets: Map<string, FileEdits>): Promise<void> {
    const { path, realPath } = await resolveReal(ground.files, cwd, given);
    const known = targets.get(realPath);
    if (known && known.fileTag !== tag) {
      throw new ToolsError(
        "invalid_input",
        `Two sections are of one file (${known.given}, ${given}) with different tags. Use the tag that was shown last for both.`,
      );
    }
    if (known) known.edits.push(...edits);
    else targets.set(realPath, { given, path, realPath, edits, fileTag: tag });
  }
}
