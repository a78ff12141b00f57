/**
 * Expands a prompt to the content of a message: `/template arguments`, `/skill:name arguments` and `@file`. Only the typed
 * text is expanded. The content of a template, a skill, a file or an argument is not, so it cannot include other files.
 */
import { type ImageContent, type TextContent } from "@tau/ai";
import { assertNever, didYouMean } from "@tau/ai/internal";
import type { PromptTemplate, Skill } from "@tau/config/resources";
import { fillTemplate, splitArguments, enclose } from "@tau/config/internal";
import { findMentions, type Mention } from "@tau/protocol";
import { parseSlashCommand } from "@tau/protocol/surface";

export interface ExpandPort {
  readonly templates: readonly PromptTemplate[];
  readonly skills: readonly Skill[];
  /** Reads the current instructions of a skill. */
  readSkill(skill: Skill): Promise<SkillText>;
  /** `isLast`: no other spelling of the mention follows. */
  readMention(path: string, isLast: boolean): Promise<Mentioned>;
}

/** `notice` is shown to the user. */
type SkillText = { kind: "text"; text: string; notice?: string } | { kind: "failed"; reason: string };

/** The content of a mentioned path. Long content is cut and says so; `cut` says it to the user. */
export type Mentioned =
  | { kind: "file" | "directory"; path: string; text: string; cut?: string }
  /** `note` says how the image was changed, if it was. */
  | { kind: "image"; path: string; image: ImageContent; note: string }
  /** Read by an extension, and written by others than the user. */
  | { kind: "content"; path: string; text: string; images: readonly ImageContent[]; cut?: string }
  | { kind: "missing" }
  | { kind: "failed"; reason: string };

/** A role that a template or a skill asks for. `by` begins a sentence. */
export interface AskedRole {
  name: string;
  by: string;
}

/** The content is the text, then the mentioned files. `notices` are sentences for the user. */
type Expansion =
  | { kind: "message"; content: Content; notices: string[]; role?: AskedRole | undefined }
  | { kind: "refused"; reason: string };

type Content = (TextContent | ImageContent)[];

/** The limits for the mentioned files of one prompt. */
const maxMentions = 32;
const maxCharacters = 256 * 1024;
/** A text with more mentions was pasted, and looking for all files would take long. */
const maxLookups = 200;

export async function expandPrompt(typed: string, port: ExpandPort): Promise<Expansion> {
  const command = await expandCommand(typed, port);
  if (command.kind === "refused") return command;
  const { text, notices, role } = command;
  const files = await expandMentions(findMentions(typed), port);
  return {
    kind: "message",
    content: [{ type: "text", text }, ...files.content],
    notices: [...notices, ...files.notices],
    role,
  };
}

/** Attaches files that were named outside of the prompt. Unlike mentioned files, they must exist. */
export async function attachFiles(paths: readonly string[], port: Pick<ExpandPort, "readMention">): Promise<Expansion> {
  const content: Content = [];
  const notices: string[] = [];
  for (const path of paths) {
    const file = await port.readMention(path, true);
    if (file.kind === "missing") {
      const hint = /\s/.test(path) ? " If it is a message, put a space before the @." : "";
      return { kind: "refused", reason: `There is no file ${path}.${hint}` };
    }
    if (file.kind === "failed") return { kind: "refused", reason: file.reason };
    content.push(...toBlocks(file));
    notices.push(...getCut(file));
  }
  return { kind: "message", content, notices };
}

/** Text from standard input. It is not expanded. */
export const inputBlock = (text: string): TextContent => ({ type: "text", text: enclose("stdin", {}, text) });

/** Text of a file as a client has it. It is written like a mentioned file, and is not expanded. */
export const fileBlock = ({ name, text }: { name: string; text: string }): TextContent => ({
  type: "text",
  text: enclose("file", { name }, text),
});

type Command =
  | { kind: "text"; text: string; notices: string[]; role?: AskedRole | undefined }
  | { kind: "refused"; reason: string };

const askRole = (name: string | undefined, by: string): AskedRole | undefined =>
  name === undefined ? undefined : { name, by };

/** A text that begins with a slash but is not a command, such as a path, is not changed. */
async function expandCommand(typed: string, port: ExpandPort): Promise<Command> {
  const { name = "", argument: rest = "" } = parseSlashCommand(typed) ?? {};
  if (name.startsWith("skill:")) return await callSkill(typed, name.slice("skill:".length), rest, port);
  const template = port.templates.find((candidate) => candidate.name === name);
  return template ? callTemplate(template, rest) : { kind: "text", text: typed, notices: [] };
}

async function callSkill(typed: string, name: string, rest: string, port: ExpandPort): Promise<Command> {
  const skill = port.skills.find((candidate) => candidate.name === name);
  if (!skill) {
    const names = port.skills.map((candidate) => candidate.name);
    const notice = `There is no skill ${JSON.stringify(name)}; the text was sent as it is.${didYouMean(name, names)}`;
    return { kind: "text", text: typed, notices: [notice] };
  }
  const read = await port.readSkill(skill);
  if (read.kind === "failed") return { kind: "refused", reason: read.reason };
  const instructions = `Relative paths begin at ${skill.baseDir}.\n\n${read.text}`;
  const block = enclose("skill", { name, location: skill.filePath }, instructions);
  const notices = read.notice === undefined ? [] : [read.notice];
  const text = rest === "" ? block : `${block}\n\n${rest}`;
  return { kind: "text", text, notices, role: askRole(skill.role, `The skill ${name}`) };
}

function callTemplate({ name, content, argumentHint, role }: PromptTemplate, rest: string): Command {
  const { text, missing, takesArguments } = fillTemplate(content, splitArguments(rest));
  const notices: string[] = [];
  if (missing.length > 0) {
    const usage = argumentHint === undefined ? "" : ` Usage: /${name} ${argumentHint}`;
    notices.push(`The template /${name} has no argument for ${missing.join(", ")}; it was left empty.${usage}`);
  }
  // Arguments of a template without placeholders are not dropped.
  const expanded = takesArguments || rest === "" ? text : `${text}\n\n${rest}`;
  return { kind: "text", text: expanded, notices, role: askRole(role, `The template /${name}`) };
}

async function expandMentions(mentions: readonly Mention[], port: ExpandPort) {
  const content: Content = [];
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
    const blocks = toBlocks(mentioned);
    characters += blocks.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
    if (seen.size >= maxMentions || characters > maxCharacters) {
      notices.push(`${mention.typed} and all later mentions were not included: they are too much for one message.`);
      break;
    }
    seen.add(mentioned.path);
    content.push(...blocks);
    notices.push(...getCut(mentioned));
  }
  return { content, notices };
}

const getCut = (mentioned: Mentioned): string[] =>
  "cut" in mentioned && mentioned.cut !== undefined ? [mentioned.cut] : [];

async function readFirst({ paths }: Mention, port: ExpandPort): Promise<Mentioned> {
  for (const [index, path] of paths.entries()) {
    const mentioned = await port.readMention(path, index === paths.length - 1);
    if (mentioned.kind !== "missing") return mentioned;
  }
  return { kind: "missing" };
}

function toBlocks(mentioned: Exclude<Mentioned, { kind: "missing" | "failed" }>): Content {
  const { path } = mentioned;
  switch (mentioned.kind) {
    case "file":
    case "directory":
      return [{ type: "text", text: enclose(mentioned.kind, { name: path }, mentioned.text) }];
    case "image":
      return [{ type: "text", text: enclose("file", { name: path }, mentioned.note) }, mentioned.image];
    case "content":
      return [
        { type: "text", text: enclose("resource", { name: path, source: "external" }, mentioned.text) },
        ...mentioned.images,
      ];
    default:
      return assertNever(mentioned);
  }
}
