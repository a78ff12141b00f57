/** Decides which hooks an event is for. Pure. */
import { isAbsolute, relative } from "node:path";
import { matchWildcards } from "@tau/ai/internal";
import { isWithin, parseGlob } from "@tau/tools/platform";
import { getHookEvent } from "./events.ts";
import type { Hook } from "./hook.ts";
import { listToolNames } from "./tool-names.ts";

/** The facts that hooks are chosen by. */
export interface HookSubject {
  /** Our name of the tool that is called. */
  readonly toolName?: string;
  /** The text that the matcher of other events is compared with, such as `startup`. */
  readonly text?: string;
  /** The absolute paths that the call names. */
  readonly paths?: readonly string[];
  /** The command that the call would run. */
  readonly command?: string | undefined;
}

/** A plain list of names; anything else is a regular expression that has to match somewhere. */
const nameList = /^[\w\s,|-]*$/;

/** Whether a name fits; undefined for a regular expression that is not valid. */
export function parseMatcher(matcher: string): ((name: string) => boolean) | undefined {
  if (matcher.trim() === "" || matcher === "*") return () => true;
  if (nameList.test(matcher)) {
    const names = new Set(matcher.split(/[|,]/).map((name) => name.trim()));
    return (name) => names.has(name);
  }
  try {
    const expression = new RegExp(matcher);
    return (name) => expression.test(name);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isHookFor(hook: Hook, subject: HookSubject, cwd: string): boolean {
  const { matches } = getHookEvent(hook.event);
  const { toolName = "", text = "" } = subject;
  const fits = matches && hook.matcher !== undefined ? parseMatcher(hook.matcher) : undefined;
  const names = matches === "tool" ? listToolNames(toolName) : [text];
  if (fits && !names.some(fits)) return false;
  const { paths = [] } = subject;
  if (hook.paths.length > 0 && !paths.some((path) => hook.paths.some((glob) => matchesPath(glob, path, cwd))))
    return false;
  return hook.condition === undefined || fitsCondition(hook.condition, subject, cwd);
}

/** A pattern without a slash is about the name of a file; others begin at the project, or are absolute. */
function matchesPath(glob: string, path: string, cwd: string): boolean {
  const isInside = !isAbsolute(glob) && isWithin(cwd, path);
  const { matches } = parseGlob(glob.replace(/^(?:\.\/|\/)/, ""));
  return matches((isInside ? relative(cwd, path) : path).replaceAll("\\", "/").replace(/^\//, ""));
}

/** `*` matches any text. */
const matchesText = (pattern: string, text: string): boolean =>
  matchWildcards(
    [...pattern],
    [...text],
    (part) => part === "*",
    (part, character) => part === character,
  );

const rule = /^([\w-]+)(?:\(([\s\S]*)\))?$/;

/**
 * Whether a call fits `Tool` or `Tool(pattern)`. A condition that cannot be read fits, as does a command whose parts cannot be
 * told apart: a hook that guards is rather called once too often.
 */
function fitsCondition(condition: string, { toolName = "", paths = [], command }: HookSubject, cwd: string): boolean {
  const [, name, pattern] = rule.exec(condition.trim()) ?? [];
  if (name === undefined) return true;
  if (!listToolNames(toolName).includes(name)) return false;
  if (pattern === undefined || pattern === "*") return true;
  if (command === undefined) return paths.some((path) => matchesPath(pattern.replace(/^\/\//, "/"), path, cwd));
  if (/[`$(]/.test(command)) return true;
  const glob = pattern.replace(/:\*$/, "*");
  return command
    .split(/&&|\|\||[;|&\n]/)
    .map((part) => part.trim().replace(/^(?:\w+=\S*\s+)+/, ""))
    .some((part) => matchesText(glob, part) || matchesText(glob.replace(/ \*$/, ""), part));
}
