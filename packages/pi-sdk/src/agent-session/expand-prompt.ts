/** Turns `/skill:name` and `/template` at the beginning of a prompt into the text that they stand for. */
import { readFileSync } from "node:fs";
import type { PromptTemplate } from "../resources/prompt-templates.ts";
import { type Skill, stripFrontmatter, tryRead } from "@tau/pi/internal";

interface ExpandOptions {
  skills: readonly Skill[];
  templates: readonly PromptTemplate[];
  /** Called for a skill whose file cannot be read. The text then stays as it is. */
  onUnreadable(skill: Skill, message: string): void;
}

export function expandPrompt(text: string, { skills, templates, onUnreadable }: ExpandOptions): string {
  const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
  if (!match) return text;
  const [, name = "", args = ""] = match;
  const skill = skills.find((candidate) => name === `skill:${candidate.name}`);
  if (skill) {
    const report = (message: string) => onUnreadable(skill, message);
    return tryRead(() => expandSkill(skill, args), report) ?? text;
  }
  const template = templates.find((candidate) => candidate.name === name);
  return template ? substitute(template.content, splitArguments(args)) : text;
}

function expandSkill({ name, filePath, baseDir }: Skill, args: string): string {
  const body = stripFrontmatter(readFileSync(filePath, "utf8")).trim();
  const block = `<skill name="${name}" location="${filePath}">\nReferences are relative to ${baseDir}.\n\n${body}\n</skill>`;
  return args === "" ? block : `${block}\n\n${args}`;
}

/** At blanks, except inside quotes. */
const splitArguments = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");

/** `$1`, `$@`, `$ARGUMENTS` and `${@:2:3}`. What arguments hold is not replaced again. */
const substitute = (content: string, args: readonly string[]): string =>
  content.replace(/\$\{@:(\d+)(?::(\d+))?\}|\$ARGUMENTS|\$@|\$(\d+)/g, (all, from, count, index) => {
    if (from !== undefined) {
      const start = Math.max(0, Number(from) - 1);
      return args.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
    }
    if (index !== undefined) return args[Number(index) - 1] ?? "";
    return all === "$@" || all === "$ARGUMENTS" ? args.join(" ") : all;
  });
