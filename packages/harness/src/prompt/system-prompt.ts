/**
 * Builds the system prompt from sections. Sections that never change come first, and the date comes last, so that
 * providers can cache the beginning. Pure.
 */
import { type TextFile, enclose, escapeText } from "@tau/config/internal";
import type { Skill } from "@tau/config/resources";
import { findReader, formatToolLine, listGuidelines, type PromptTool } from "./tool-lines.ts";

export interface SystemPromptInput {
  /** The tools of the model, in the order in which they are listed. */
  tools: readonly PromptTool[];
  cwd: string;
  /** See `formatDate`. */
  date: string;
  /** Sentences about how to use the tools. Default: those of the tools. */
  guidelines?: readonly string[];
  /** Where commands run, for a model that can run some. */
  commands?: string;
  contextFiles?: readonly TextFile[];
  skills?: readonly Skill[];
  /** tau's documents, for a model that can read files. */
  docsDir?: string;
  /** Replaces the default text and the list of tools: a `SYSTEM.md` or an agent's own prompt. */
  custom?: string;
  /** Follows the default text or `custom`: for example an `APPEND_SYSTEM.md`. */
  append?: readonly string[];
}

export interface PromptSection {
  /** Unique in a prompt. */
  name: string;
  text: string;
}

export interface SystemPrompt {
  sections: readonly PromptSection[];
  /** The text that is sent. */
  text: string;
}

export function buildSystemPrompt(input: SystemPromptInput): SystemPrompt {
  const { tools, custom, append = [], skills = [], contextFiles = [], cwd, date, commands } = input;
  const sandbox = commands === undefined ? "" : `${commands}\n`;
  const sections = [
    ...(custom === undefined ? defaultSections(input) : [{ name: "custom", text: custom }]),
    ...append.map((text, index) => ({ name: index === 0 ? "append" : `append ${index + 1}`, text })),
    { name: "skills", text: skillsText(skills, tools) },
    ...contextSections(contextFiles),
    { name: "environment", text: `${sandbox}Working directory: ${toLine(cwd)}\nDate: ${date}` },
  ].filter(({ text }) => text.trim() !== "");
  return { sections, text: sections.map(({ text }) => text.trim()).join("\n\n") };
}

/** Not escaped: the model uses the path as it is. A name with a line break in it could look like more of the prompt. */
const toLine = (path: string): string => path.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "?");

/** `2026-03-01` in the local time zone. The time of day would break the cache with every request. */
export function formatDate(now: number): string {
  const date = new Date(now);
  const digits = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

const identity = `You are tau, an agent that works on the user's computer, mostly on code. Look at how things are before you change them, change what was asked for and nothing else, and say plainly what you did and could not do.`;

/** These apply to any tools. */
const generalRules = [
  "Call tools for routine work without comment. Explain before a long or risky step, or when plans change.",
  "Be brief. Write in the user's language. Name files by path, and by line where it helps: src/main.ts:42.",
];

function defaultSections({ tools, guidelines = listGuidelines(tools), docsDir }: SystemPromptInput): PromptSection[] {
  const lines = tools.map(formatToolLine);
  const rules = [...guidelines, ...generalRules];
  return [
    { name: "identity", text: identity },
    { name: "tools", text: lines.length === 0 ? "" : `Your tools:\n${lines.join("\n")}` },
    { name: "rules", text: `How you work:\n${rules.map((rule) => `- ${rule}`).join("\n")}` },
    { name: "documents", text: docsDir === undefined ? "" : documentsText(docsDir, tools) },
  ];
}

/** Empty without a tool that can read the documents. */
function documentsText(directory: string, tools: SystemPromptInput["tools"]): string {
  if (findReader(tools) === undefined) return "";
  return `If the user asks how tau works or is configured, answer from its documents: ${toLine(directory)}/README.md lists them.`;
}

/** Empty without a tool that can read the files of skills. */
function skillsText(skills: readonly Skill[], tools: SystemPromptInput["tools"]): string {
  const reader = findReader(tools);
  const shown = skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  if (reader === undefined || shown.length === 0) return "";
  const intro = `Skills are instructions for special tasks. When a task fits the description of one, read its whole file with ${reader.name} first, then follow it. Relative paths in it begin at its directory.`;
  const lines = shown.map(({ name, description, filePath }) =>
    [
      "<skill>",
      `<name>${escapeText(name)}</name>`,
      `<description>${escapeText(description)}</description>`,
      `<location>${escapeText(filePath)}</location>`,
      "</skill>",
    ].join("\n"),
  );
  return `${intro}\n<available_skills>\n${lines.join("\n")}\n</available_skills>`;
}

/** Creates a section for each file, so that a cache break can name the file. */
function contextSections(files: readonly TextFile[]): PromptSection[] {
  const intro =
    "The user and the project provide these instructions. Follow them; if two disagree, the later one takes precedence.";
  return files.map(({ path, content }, index) => {
    const text = enclose("instructions", { path }, content.trim());
    return { name: `context ${path}`, text: index === 0 ? `${intro}\n\n${text}` : text };
  });
}
