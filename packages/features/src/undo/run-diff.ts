/** The slash command `/diff`: what this session did to the files. */
import type { ExtensionCommandContext } from "@tau/extensions";
import { showText } from "../kit/show-text.ts";
import { formatChanges, showPath } from "./format-undo.ts";
import type { PlannedChange } from "./plan-changes.ts";
import type { Project } from "./project.ts";
import { findSessionChanges, type SessionChanges } from "./session-changes.ts";

const maxListed = 200;

interface ShownChange {
  readonly path: string;
  readonly text: string;
  readonly isOverlaid: boolean;
}

export async function runDiff(
  project: Project,
  context: Pick<ExtensionCommandContext, "ui" | "mode" | "sessionManager">,
): Promise<void> {
  const sessionId = context.sessionManager.getSessionId();
  const { found, shown, rest } = await project.alone(async () => {
    const changes = await findSessionChanges(project, sessionId);
    const all = [...changes.changes, ...changes.overlaid];
    const texts = await formatChanges(all, project.store);
    return {
      found: changes,
      shown: all.slice(0, texts.length).map((change, index) => toShown(change, texts[index]!, changes)),
      rest: texts.slice(all.length),
    };
  });
  const summary = formatSummary(found, shown);
  if (shown.length === 0) return context.ui.notify(summary);
  const titles = shown.map(({ text, isOverlaid }) => (isOverlaid ? `${text}\n[Changed since by others too]` : text));
  await showText(context, { summary, text: [...titles, ...rest].join("\n\n") });
}

const toShown = (change: PlannedChange, text: string, { overlaid }: SessionChanges): ShownChange => ({
  path: change.path,
  text,
  isOverlaid: overlaid.includes(change),
});

function formatSummary(
  { prompts, lost, unknown }: Pick<SessionChanges, "prompts" | "lost" | "unknown">,
  shown: readonly ShownChange[],
): string {
  const count = shown.length === 1 ? "1 file" : `${shown.length} files`;
  const title =
    shown.length > 0
      ? `This session changed ${count} (${prompts === 1 ? "1 prompt" : `${prompts} prompts`}):`
      : "This session has changed no files that are kept.";
  const more = shown.length > maxListed ? [`  and ${shown.length - maxListed} more`] : [];
  return [
    title,
    ...shown.slice(0, maxListed).map((change) => `  ${formatRow(change)}`),
    ...more,
    ...lost.map(({ path, reason }) => `Changed, but not kept: ${showPath(path)}, because ${reason}`),
    ...unknown.map(({ prompt, reason }) => `Not known is what “${prompt}” changed: ${reason}`),
  ].join("\n");
}

function formatRow({ path, text, isOverlaid }: ShownChange): string {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const countOf = (sign: string) => (first < 0 ? 0 : lines.slice(first).filter((line) => line.startsWith(sign)).length);
  const verb = text.startsWith("Create ") ? ", created" : text.startsWith("Remove ") ? ", removed" : "";
  return `${showPath(path)}  +${countOf("+")} -${countOf("-")}${verb}${isOverlaid ? ", changed since by others too" : ""}`;
}
