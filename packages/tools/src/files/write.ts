import type { AgentTool } from "@tau/agent";
import { Type } from "typebox";
import { countBreaks, countLines, formatBytes } from "../truncate.ts";
import { aloneWith, type EditorPorts } from "./file-queue.ts";
import { resolveNew } from "./path.ts";

const parameters = Type.Object({ path: Type.String(), content: Type.String() });

export interface WriteDetails {
  path: string;
  bytes: number;
  lines: number;
  /** Whether there was no such file before. */
  isNew: boolean;
}

/** Creates a file, or replaces all of one. */
export function createWriteTool({
  cwd,
  files,
  queue,
}: EditorPorts & { cwd: string }): AgentTool<typeof parameters, WriteDetails> {
  return {
    name: "write",
    label: "Write",
    description: "Create a file or replace its whole content. Creates missing directories.",
    parameters,
    async execute(_id, { path: given, content }, signal) {
      const path = await resolveNew(files, cwd, given);
      const bytes = Buffer.from(content);
      const isNew = await aloneWith({ files, queue }, path, signal, async (realPath) => {
        const { created } = await files.writeWhole(realPath, bytes);
        return created;
      });
      const lines = lineCount(content);
      const what = `${countLines(lines)} (${formatBytes(bytes.length)})`;
      const text = isNew ? `Created ${given}: ${what}.` : `Replaced the content of ${given}: ${what}.`;
      return { content: [{ type: "text", text }], details: { path, bytes: bytes.length, lines, isNew } };
    },
  };
}

/** The break after the last line does not begin another one. */
const lineCount = (text: string): number => countBreaks(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
