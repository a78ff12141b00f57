/** `#text`: adds a line to a file of instructions that the user chooses. */
import { basename, dirname, join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import type { Interface } from "./interface.ts";
import { shortenPath } from "./status-line.ts";

/** The text after the mark. Several lines, headings of Markdown and numbers of issues are ordinary messages. Pure. */
export const parseInstruction = (text: string): string | undefined =>
  /^#(?![#!\d])[ \t]*(\S[^\n]*)$/.exec(text)?.[1]?.trim();

interface InstructionPlaces {
  readonly cwd: string;
  readonly agentDir: string;
  /** The files that the session has, of which the last has precedence. */
  readonly contextFiles: readonly string[];
}

const fileName = "AGENTS.md";

/** Lists the files that a line can be added to: the project's, the user's own, and others that apply. Pure. */
export function listInstructionFiles({ cwd, agentDir, contextFiles }: InstructionPlaces): string[] {
  const findIn = (directory: string) =>
    contextFiles.find((path) => dirname(path) === directory) ?? join(directory, fileName);
  return [...new Set([findIn(cwd), findIn(agentDir), ...contextFiles.toReversed()])];
}

const toModel = "send";

/** False for a text that is none, or that the user wants to send as a message. */
export async function addInstruction(ui: Interface, text: string): Promise<boolean> {
  const line = parseInstruction(text);
  // The files of a session elsewhere are not those of this machine.
  if (line === undefined || ui.client.extensions?.isRemote) return false;
  return await ui.settle(async () => {
    const { cwd, contextFiles } = await ui.client.execute({ type: "get_state" });
    const { home, agentDir } = ui.program;
    const files = listInstructionFiles({ cwd, agentDir, contextFiles });
    const items = [
      ...files.map((path) => ({ value: path, label: shortenPath(path, home) })),
      { value: toModel, label: "None: send it to the model" },
    ];
    const answer = await ui.choose("Add the line to which instructions?", items, { hint: line });
    if (answer === toModel) return false;
    if (answer === undefined) {
      ui.setEditorText(text);
      return true;
    }
    try {
      await ui.program.appendLine(answer, `- ${line}`);
      ui.say(`Added to ${basename(answer)}.`);
    } catch (error) {
      ui.say(`The line could not be added to ${answer}: ${getErrorMessage(error)}`, "error");
      ui.setEditorText(text);
    }
    return true;
  });
}
