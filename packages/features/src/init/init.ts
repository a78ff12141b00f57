/** The code of the feature `init`. */
import { join } from "node:path";
import type { ExtensionAPI, ExtensionCommandContext, ExtensionFactory } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { summariseChanges } from "@tau/tools";
import { showText } from "../kit/show-text.ts";
import { readTextFile, writeTextFile } from "../kit/text-file.ts";
import { initCommand } from "./feature.ts";
import { fileName, formatWriterPrompt, parseAnswer, writerRules } from "./instructions-prompt.ts";

const statusKey = "init";
/** None of them writes or executes. */
const readingTools: readonly string[] = ["read", "grep", "find", "ls"];

const choices = { save: "Save it", edit: "Change it in the editor first", drop: "Save nothing" } as const;

export const createInitExtension = (): ExtensionFactory => (tau) =>
  tau.registerCommand(initCommand.name, {
    description: initCommand.description,
    async handler(args, context) {
      try {
        await writeInstructions(tau, args, context);
      } catch (error) {
        if (!(error instanceof HarnessError)) throw error;
        context.ui.notify(error.message, "error");
      }
    },
  });

async function writeInstructions(tau: ExtensionAPI, args: string, context: ExtensionCommandContext): Promise<void> {
  const { ui, hasUI, cwd } = context;
  const words = args.split(/\s+/).filter(Boolean);
  const isSure = words.includes("--yes");
  const wishes = words.filter((word) => word !== "--yes").join(" ");
  if (tau.getPermissionMode() === "plan")
    return ui.notify(`Plan mode is on, in which nothing is written: leave it before /init.`, "warning");
  const path = join(cwd, fileName);
  const before = await readTextFile(path);
  const text = await askChild(tau, context, formatWriterPrompt({ before, wishes }));
  if (text === undefined) return;
  if (text === before) return ui.notify(`${fileName} has nothing to improve.`);
  const save = async (final: string) => {
    await writeTextFile({ path, before, text: final, within: cwd, mode: 0o644 });
    ui.notify(`Written to ${path}. /reload uses it in this session; new sessions read it.`);
  };
  await showText(context, describeChange(before, text));
  if (isSure) return await save(text);
  if (!hasUI) return ui.notify(`Nothing was written. /init --yes writes it.`);
  const chosen = await askPerson(context, before, text);
  if (chosen === undefined) ui.notify("Nothing was written.");
  else await save(chosen);
}

/** Undefined if there is no answer, which was said. */
async function askChild(
  tau: ExtensionAPI,
  { ui }: ExtensionCommandContext,
  prompt: string,
): Promise<string | undefined> {
  const signal = tau.getChildrenSignal();
  ui.setStatus(statusKey, `Reading the project for ${fileName}…`);
  try {
    const child = await tau.openChild({ name: "init", tools: readingTools, systemPrompt: writerRules });
    try {
      const { kind, text, reason = "there was no answer" } = await child.prompt(prompt, { signal });
      const parsed = kind === "done" ? parseAnswer(text) : { kind: "invalid" as const, problem: reason };
      if (parsed.kind === "text") return parsed.text;
      ui.notify(`${fileName} was not written: ${parsed.problem}.`.replace(/\.\.$/, "."), "error");
      return undefined;
    } finally {
      await child.close();
    }
  } finally {
    ui.setStatus(statusKey, undefined);
  }
}

function describeChange(before: string | undefined, text: string): { summary: string; text: string } {
  if (before === undefined) return { summary: `${fileName} would be written:`, text };
  const { diff } = summariseChanges(before, [{ from: 0, to: before.length, text }], fileName, 200_000);
  return { summary: `${fileName} would be changed:`, text: diff };
}

/** Resolves with what to save; undefined: nothing. */
async function askPerson(
  { ui }: ExtensionCommandContext,
  before: string | undefined,
  text: string,
): Promise<string | undefined> {
  const question = before === undefined ? `Save this as ${fileName}?` : `Save these changes of ${fileName}?`;
  const answer = await ui.select(question, Object.values(choices));
  if (answer === choices.save) return text;
  if (answer !== choices.edit) return undefined;
  // What is edited is what is saved: the person has seen all of it.
  const edited = await ui.editor(`${fileName}: submitting saves it`, text);
  return edited === undefined || edited.trim() === "" ? undefined : `${edited.trimEnd()}\n`;
}
