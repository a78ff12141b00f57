import type { AgentTool } from "@tau/agent";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import { resolveReal } from "../files/path.ts";
import { editFiles, type FileEdits, type HashlineChange, type HashlineGround } from "./edit-files.ts";
import { type PatchSection, parsePatch } from "./patch-text.ts";

export interface HashlinePatchDetails {
  files: HashlineChange[];
}

/** Edits lines of several files, all or none. */
export function createHashlinePatchTool({
  cwd,
  ...ground
}: HashlineGround & { cwd: string }): AgentTool<ParametersOf<"hashline_patch">, HashlinePatchDetails> {
  return {
    ...definitions.hashline_patch,
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
