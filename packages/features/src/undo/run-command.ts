/** The slash commands `/undo` and `/redo`: the difference is shown before anything is written. */
import type { ExtensionCommandContext } from "@tau/extensions";
import type { UndoData } from "@tau/protocol";
import { UndoError } from "./failure.ts";
import { formatWritten } from "./format-undo.ts";
import type { UndoRequest } from "./request-undo.ts";

interface TypedCommand {
  direction: "undo" | "redo";
  args: string;
  context: Pick<ExtensionCommandContext, "ui" | "hasUI" | "navigateTree" | "sessionManager">;
}

const answers = {
  undo: "Take back the files",
  both: "Take back the files and the conversation",
  redo: "Do it again",
  nothing: "Leave everything as it is",
} as const;

export async function runUndoCommand(
  { direction, args, context }: TypedCommand,
  request: (wanted: UndoRequest) => Promise<UndoData>,
): Promise<void> {
  const { ui, hasUI } = context;
  const { isSure, entryId } = parseArguments(args, direction);
  const wanted: UndoRequest = { direction, ...(entryId !== undefined && { entryId }) };
  const shown = await request(wanted);
  if (shown.prompts.length === 0)
    return ui.notify(direction === "undo" ? "There is nothing to take back." : "There is nothing to do again.");
  if (shown.conflicts.length > 0) return ui.notify(shown.summary, "warning");
  if (!isSure) ui.notify(shown.diff === "" ? shown.summary : shown.diff);
  if (!isSure && !hasUI) return ui.notify(`${shown.summary}\nNothing was written. /${direction} --yes writes it.`);
  const answer = isSure ? answers[direction] : await ask(context, direction, shown);
  if (answer === undefined || answer === answers.nothing) return;
  const conversation = answer === answers.both;
  const done = await request({ ...wanted, apply: true, digest: shown.digest, conversation });
  ui.notify(done.done ? formatWritten(direction, done) : done.summary, done.done ? "info" : "warning");
  if (conversation && done.done) await goBack(context, done);
}

function parseArguments(args: string, direction: "undo" | "redo") {
  const words = args.split(/\s+/).filter(Boolean);
  const [entryId, ...rest] = words.filter((word) => word !== "--yes");
  if (rest.length > 0 || entryId?.startsWith("-") || (entryId !== undefined && direction === "redo"))
    throw new UndoError(`usage: /${direction === "undo" ? "undo [ENTRY]" : "redo"} [--yes]`);
  return { isSure: words.includes("--yes"), entryId };
}

async function ask({ ui }: TypedCommand["context"], direction: "undo" | "redo", { summary, leafId }: UndoData) {
  const { undo, both, redo, nothing } = answers;
  const options =
    direction === "redo" ? [redo, nothing] : leafId === undefined ? [undo, nothing] : [undo, both, nothing];
  return await ui.select(summary, [...options]);
}

/** To the prompt, which is there to be written otherwise, or to the entry that was named. */
async function goBack({ navigateTree, sessionManager }: TypedCommand["context"], { leafId }: UndoData): Promise<void> {
  const prompt = sessionManager
    .getBranch()
    .find((entry) => entry.parentId === leafId && entry.type === "message" && entry.message.role === "user");
  const target = prompt?.id ?? leafId;
  if (typeof target === "string") await navigateTree(target);
}
