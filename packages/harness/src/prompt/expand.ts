/**
 * What a person typed becomes the content of a message: `/template arguments`, `/skill:name arguments` and `@file`.
 * Only what was typed is looked at. What a template, a skill, a file or an argument says is never expanded again, so
 * none of them can pull in a file or another prompt.
 */
import { assertNever, didYouMean, type ImageContent, type TextContent } from "@tau/ai";
import type { PromptTemplate } from "../resources/prompt-templates.ts";
import type { Skill } from "../resources/skills.ts";
import { fillTemplate, splitArguments } from "../resources/template-arguments.ts";
import { enclose } from "./enclose.ts";
import { findMentions, type Mention } from "./mentions.ts";

/** Everything that expanding needs from the world. */
export interface ExpandPort {
  readonly templates: readonly PromptTemplate[];
  readonly skills: readonly Skill[];
  /** A skill's instructions as they are now. */
  readSkill(skill: Skill): Promise<SkillText>;
  readMention(path: string): Promise<Mentioned>;
}

/** `notice` is what a person should know of it, where there is something. */
export type SkillText = { kind: "text"; text: string; notice?: string } | { kind: "failed"; reason: string };

/** What a path that was mentioned leads to. Bounded: what is long says itself what was left out. */
export type Mentioned =
  | { kind: "file"; path: string; text: string }
  | { kind: "directory"; path: string; text: string }
  /** `note` says what was done to it, where something was. */
  | { kind: "image"; path: string; image: ImageContent; note: string }
  | { kind: "missing" }
  | { kind: "failed"; reason: string };

export interface ExpandOptions {
  /** Refuse when a template has no argument for one of its placeholders. Default: leave it empty and say so. */
  strict?: boolean;
}

export type Expansion =
  | {
      kind: "message";
      /** The text comes first, then each file that is mentioned. */
      content: (TextContent | ImageContent)[];
      /** What the person should know, in whole sentences. */
      notices: string[];
      /** What the text was made of, where it was made of something. */
      from?: { kind: "template" | "skill"; name: string };
    }
  | { kind: "refused"; reason: string };

/** The most files of one text, and the most characters of all their texts. */
const maxMentions = 32;
/** After so many the text is something pasted, and looking for all of them would take its time. */
const maxLookups = 200;
const maxCharacters = 256 * 1024;

export async function expandPrompt(typed: string, port: ExpandPort, options: ExpandOptions = {}): Promise<Expansion> {
  const command = await expandCommand(typed, port, options);
  if (command.kind === "refused") return command;
  const { text, notices, from } = command;
  const files = await expandMentions(findMentions(typed), port);
  return {
    kind: "message",
    content: [{ type: "text", text }, ...files.content],
    notices: [...notices, ...files.notices],
    ...(from && { from }),
  };
}

/** Files that somebody named beside a text. Unlike a mention, each has to be there. */
export async function attachFiles(
  paths: readonly string[],
  port: Pick<ExpandPort, "readMention">,
): Promise<{ kind: "content"; content: (TextContent | ImageContent)[] } | { kind: "refused"; reason: string }> {
  const content: (TextContent | ImageContent)[] = [];
  for (const path of paths) {
    const found = await port.readMention(path);
    if (found.kind === "missing") return { kind: "refused", reason: `There is no file ${path}.${hintFor(path)}` };
    if (found.kind === "failed") return { kind: "refused", reason: found.reason };
    content.push(...getBlocks(found));
  }
  return { kind: "content", content };
}

/** Who begins a message with the sign of a file is taken at their word. */
const hintFor = (path: string) => (/\s/.test(path) ? " If it is a message, put a space before the @." : "");

/** Text that comes from elsewhere, such as a pipe. Nothing in it is expanded. */
export const inputBlock = (text: string): TextContent => ({ type: "text", text: enclose("stdin", {}, text) });

type Command =
  | { kind: "text"; text: string; notices: string[]; from?: { kind: "template" | "skill"; name: string } }
  | { kind: "refused"; reason: string };

/** What begins with a slash and is nothing of ours (a path, perhaps) stays as it was typed. */
async function expandCommand(typed: string, port: ExpandPort, { strict = false }: ExpandOptions): Promise<Command> {
  const [, name, rest = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(typed.trim()) ?? [];
  if (name?.startsWith("skill:")) return await callSkill(typed, name.slice("skill:".length), rest, port);
  const template = port.templates.find((one) => one.name === name);
  return template ? callTemplate(template, rest, strict) : { kind: "text", text: typed, notices: [] };
}

async function callSkill(typed: string, name: string, rest: string, port: ExpandPort): Promise<Command> {
  const skill = port.skills.find((one) => one.name === name);
  if (!skill) {
    const names = port.skills.map((one) => one.name);
    const notice = `There is no skill ${JSON.stringify(name)}; the text was sent as it is.${didYouMean(name, names)}`;
    return { kind: "text", text: typed, notices: [notice] };
  }
  const read = await port.readSkill(skill);
  if (read.kind === "failed") return { kind: "refused", reason: read.reason };
  const text = `Relative paths begin at ${skill.baseDir}.\n\n${read.text}`;
  const block = enclose("skill", { name, location: skill.filePath }, text);
  const notices = read.notice === undefined ? [] : [read.notice];
  return {
    kind: "text",
    text:
      rest === ""
        ? block
        : `${block}

${rest}`,
    notices,
    from: { kind: "skill", name },
  };
}

function callTemplate({ name, content, argumentHint }: PromptTemplate, rest: string, strict: boolean): Command {
  const { text, missing, takesArguments } = fillTemplate(content, splitArguments(rest));
  const notices: string[] = [];
  if (missing.length > 0) {
    const usage = argumentHint === undefined ? "" : ` Use it so: /${name} ${argumentHint}`;
    const lacks = `The template /${name} has no argument for ${missing.join(", ")}`;
    if (strict) return { kind: "refused", reason: `${lacks}. Give one after the name.${usage}` };
    notices.push(`${lacks}; it was left empty.${usage}`);
  }
  // Nothing that a person typed is dropped, also where a template has no place for it.
  const whole = takesArguments || rest === "" ? text : `${text}\n\n${rest}`;
  return { kind: "text", text: whole, notices, from: { kind: "template", name } };
}

async function expandMentions(mentions: readonly Mention[], port: ExpandPort) {
  const content: (TextContent | ImageContent)[] = [];
  const notices: string[] = [];
  const seen = new Set<string>();
  let characters = 0;
  if (mentions.length > maxLookups) {
    notices.push(`Only the first ${maxLookups} of ${mentions.length} mentions were looked at. Mention fewer files.`);
  }
  for (const mention of mentions.slice(0, maxLookups)) {
    const mentioned = await readFirst(mention, port);
    if (mentioned.kind === "missing") {
      if (mention.isPath) notices.push(`There is no file ${mention.paths.at(-1)}; ${mention.typed} was sent as it is.`);
      continue;
    }
    if (mentioned.kind === "failed") {
      notices.push(`${mentioned.reason} ${mention.typed} was sent as it is.`);
      continue;
    }
    if (seen.has(mentioned.path)) continue;
    const blocks = getBlocks(mentioned);
    characters += blocks.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
    if (seen.size >= maxMentions || characters > maxCharacters) {
      notices.push(
        `${mention.typed} and what is mentioned after it were not included: that is too much for one message.`,
      );
      break;
    }
    seen.add(mentioned.path);
    content.push(...blocks);
  }
  return { content, notices };
}

async function readFirst({ paths }: Mention, port: ExpandPort): Promise<Mentioned> {
  for (const path of paths) {
    const mentioned = await port.readMention(path);
    if (mentioned.kind !== "missing") return mentioned;
  }
  return { kind: "missing" };
}

function getBlocks(mentioned: Exclude<Mentioned, { kind: "missing" | "failed" }>): (TextContent | ImageContent)[] {
  const { path } = mentioned;
  switch (mentioned.kind) {
    case "file":
      return [{ type: "text", text: enclose("file", { name: path }, mentioned.text) }];
    case "directory":
      return [{ type: "text", text: enclose("directory", { name: path }, mentioned.text) }];
    case "image":
      return [{ type: "text", text: enclose("file", { name: path }, mentioned.note) }, mentioned.image];
    default:
      return assertNever(mentioned);
  }
}
