/** Gathers the hooks of a session: from the user's settings, those of a trusted project, and files of Claude Code. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { listCommandFiles } from "@tau/config/internal";
import type { FeaturePlace } from "@tau/extensions";
import { nodeFileSystem } from "@tau/tools/platform";
import { readWhole } from "@tau/tools/durable";
import { hasHooks, listClaudeFiles } from "./has-hooks.ts";
import type { Hook, HookSource, UnusedHook } from "./hook.ts";
import { type ParsedHooks, parseHooks } from "./parse-hooks.ts";

export async function findHooks(place: FeaturePlace): Promise<ParsedHooks> {
  if (!hasHooks(place)) return { hooks: [], unused: [] };
  const { settings, cwd } = place;
  const parsed = [
    parseHooks(getHooks(settings.getGlobal()), { scope: "user", isClaude: false, label: "your settings" }),
    parseHooks(getHooks(settings.getRun()), { scope: "user", isClaude: false, label: "the settings of this run" }),
    parseHooks(getHooks(settings.getProject()), { scope: "project", isClaude: false, label: "the project's settings" }),
    ...(await Promise.all(listClaudeFiles(place).map(readClaudeFile))),
  ];
  const hooks: Hook[] = [];
  const unused: UnusedHook[] = parsed.flatMap((each) => each.unused);
  for (const hook of parsed.flatMap((each) => each.hooks)) {
    const isRunnable = settings.isProjectTrusted || (await listCommandFiles(hook.command, cwd)).length === 0;
    if (isRunnable) hooks.push(hook);
    else {
      const { event, command, source } = hook;
      unused.push({ event, what: command, source, reason: "it runs a file of a project that you do not trust" });
    }
  }
  return { hooks, unused };
}

const getHooks = (settings: object): unknown => (isRecord(settings) ? settings["hooks"] : undefined);

async function readClaudeFile({ path, scope }: ReturnType<typeof listClaudeFiles>[number]): Promise<ParsedHooks> {
  const source: HookSource = { scope, isClaude: true, label: path };
  const text = (await readWhole(nodeFileSystem, path))?.toString("utf8");
  if (text === undefined) return { hooks: [], unused: [] };
  const value = tryParseJson(text.replace(/^\uFEFF/, ""));
  if (!isRecord(value)) {
    const reason = "the file is not valid JSON";
    return { hooks: [], unused: [{ event: "", what: path, source, reason }] };
  }
  if (value["disableAllHooks"] === true) return { hooks: [], unused: [] };
  return parseHooks(value["hooks"], source);
}
