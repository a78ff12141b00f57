/** Reads hooks in Claude Code's form, with our additions. Pure. */
import { isRecord } from "@tau/ai/internal";
import { hookEventNames, type HookEventName } from "./events.ts";
import type { Hook, HookSource, UnusedHook } from "./hook.ts";
import { parseMatcher } from "./match-hook.ts";

export interface ParsedHooks {
  readonly hooks: readonly Hook[];
  readonly unused: readonly UnusedHook[];
}

const defaultTimeoutMs = 60_000;
/** Somebody waits for it. */
const maxTimeoutMs = 600_000;
/** The program waits no longer for the end of a session. */
const maxEndMs = 5_000;

/** A hook before a call guards it: one of ours that cannot answer denies. Claude Code's continue, as its documentation says. */
const getDefaultFailure = (event: HookEventName, { isClaude }: HookSource): Hook["onFailure"] =>
  event === "PreToolUse" && !isClaude ? "block" : "continue";

export function parseHooks(value: unknown, source: HookSource): ParsedHooks {
  const hooks: Hook[] = [];
  const unused: UnusedHook[] = [];
  const skip = (event: string, what: string, reason: string) => unused.push({ event, what, source, reason });
  if (value !== undefined && !isRecord(value)) skip("", "hooks", "it is not an object with events by name");
  for (const [name, groups] of Object.entries(isRecord(value) ? value : {})) {
    const event = hookEventNames.find((known) => known === name);
    if (!event) {
      skip(name, name, "tau has no such event");
      continue;
    }
    if (!Array.isArray(groups)) skip(name, name, "it is not a list");
    for (const group of Array.isArray(groups) ? (groups as unknown[]) : []) {
      if (!isRecord(group) || !Array.isArray(group["hooks"])) {
        skip(name, "an entry", "it has no list `hooks`");
        continue;
      }
      const { matcher, paths } = group;
      const problem = findGroupProblem(matcher, paths);
      for (const hook of group["hooks"] as unknown[]) {
        const parsed = problem ?? parseHook(hook, event, source);
        if (typeof parsed === "string") {
          skip(name, describe(hook), parsed);
          continue;
        }
        hooks.push({
          ...parsed,
          matcher: typeof matcher === "string" ? matcher : undefined,
          paths: Array.isArray(paths) ? (paths as string[]) : [],
        });
      }
    }
  }
  return { hooks, unused };
}

function findGroupProblem(matcher: unknown, paths: unknown): string | undefined {
  if (matcher !== undefined && typeof matcher !== "string") return "its `matcher` is not a text";
  if (matcher !== undefined && !parseMatcher(matcher)) return "its `matcher` is not a valid regular expression";
  const isTexts = Array.isArray(paths) && paths.every((path) => typeof path === "string");
  return paths === undefined || isTexts ? undefined : "its `paths` is not a list of texts";
}

const describe = (hook: unknown): string =>
  isRecord(hook) && typeof hook["command"] === "string" ? hook["command"] : "an entry";

/** The hook without what its group says; a text says why there is none. */
function parseHook(value: unknown, event: HookEventName, source: HookSource): Omit<Hook, "matcher" | "paths"> | string {
  if (!isRecord(value)) return "it is not an object";
  const { type = "command", command, timeout, onFailure, sandbox = true, if: condition } = value;
  if (type !== "command") return `tau runs only hooks of the type command, not ${String(type)}`;
  if (typeof command !== "string" || command.trim() === "") return "it has no `command`";
  if (value["args"] !== undefined) return "tau does not know `args`: write them into `command`";
  if (condition !== undefined && typeof condition !== "string") return "its `if` is not a text";
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0)) return "its `timeout` is not a number";
  const wantedMs = timeout === undefined ? defaultTimeoutMs : timeout * 1_000;
  return {
    event,
    command,
    condition,
    timeoutMs: Math.min(wantedMs, event === "SessionEnd" ? maxEndMs : maxTimeoutMs),
    onFailure: onFailure === "block" || onFailure === "continue" ? onFailure : getDefaultFailure(event, source),
    // A project cannot take its own hooks out of the sandbox, and a file of Claude Code was not written for this one.
    isSandboxed: !(sandbox === false && source.scope === "user" && !source.isClaude),
    source,
  };
}
