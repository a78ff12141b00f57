/** `/hooks`: which hooks there are, where they are configured, and what they did last. */
import type { CommandDefinition } from "@tau/extensions";
import { type MenuRow, showMenu } from "../kit/show-menu.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import type { UnusedHook } from "./hook.ts";
import type { HookRun, SessionHooks } from "./session-hooks.ts";

export const createHooksCommand = (getHooks: () => Promise<SessionHooks>): CommandDefinition => ({
  description: "Hooks: which there are, and what they did last",
  async handler(_args, { ui }) {
    const hooks = await getHooks();
    const getRows = () => [...hooks.list().map(toRow), ...hooks.unused.map(toUnusedRow)];
    if (getRows().length === 0) return ui.notify("There are no hooks. See: tau help hooks");
    await showMenu(ui, { title: "Hooks", getRows });
  },
});

function toRow({ hook, last }: ReturnType<SessionHooks["list"]>[number]): MenuRow {
  const { event, matcher, command, source, timeoutMs, isSandboxed, onFailure, paths } = hook;
  const about = matcher ? ` ${matcher}` : "";
  return {
    label: toVisibleLine(`${event}${about}: ${command} · ${formatLast(last)}`, 160),
    details: [
      `From ${source.label}`,
      ...(paths.length > 0 ? [`Files: ${paths.join(", ")}`] : []),
      isSandboxed ? "Runs in the sandbox of the session" : "Runs outside the sandbox",
      `Time limit ${timeoutMs / 1_000} s; a failure ${onFailure === "block" ? "blocks" : "is reported"}`,
      ...describeLast(last),
    ].map(toVisible),
    actions: [],
  };
}

const toUnusedRow = ({ event, what, source, reason }: UnusedHook): MenuRow => ({
  label: toVisibleLine(`Not used: ${[event, what].filter(Boolean).join(": ")} · ${reason}`, 160),
  details: [`From ${source.label}`].map(toVisible),
  actions: [],
});

const verdicts = { none: "no objection", ask: "asked", deny: "blocked", stop: "stopped the run" } as const;

const formatLast = (last: HookRun | undefined): string => {
  if (!last) return "has not run";
  const what = last.answer.failure === undefined ? verdicts[last.answer.verdict] : "failed";
  return `${what} (${last.runs === 1 ? "1 run" : `${last.runs} runs`})`;
};

function describeLast(last: HookRun | undefined): string[] {
  if (!last) return ["It has not run in this session."];
  const { answer, tookMs } = last;
  const texts = [answer.failure, answer.reason, answer.context, answer.message].filter((text) => text !== undefined);
  return [`Last: ${formatLast(last)}, ${Math.round(tookMs)} ms`, ...texts.map((text) => text.slice(0, 2_000))];
}
