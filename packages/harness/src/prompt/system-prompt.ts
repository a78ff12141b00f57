/**
 * Builds the system prompt. It is made of sections: those that never change come first, and those that change from day to
 * day come last, so that a provider's cache of the beginning stays valid. Pure.
 */
import type { TextFile } from "../resources/context-files.ts";
import type { Skill } from "../resources/skills.ts";
import { enclose, escaped } from "./enclose.ts";
import { findReader, formatToolLine, listGuidelines, type PromptTool } from "./tool-lines.ts";

export interface SystemPromptInput {
  /** The tools that the model has, in the order in which it is told of them. */
  tools: readonly PromptTool[];
  cwd: string;
  /** In the form that is shown; see `formatDate`. */
  date: string;
  contextFiles?: readonly TextFile[];
  skills?: readonly Skill[];
  /** Replaces the default text, including the list of tools: a `SYSTEM.md` or an agent's own prompt. */
  custom?: string;
  /** Comes after the default or custom text: `APPEND_SYSTEM.md` and texts like it. */
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
  const { tools, custom, append = [], skills = [], contextFiles = [], cwd, date } = input;
  const sections = [
    ...(custom === undefined ? defaultSections(tools) : [{ name: "custom", text: custom }]),
    ...append.map((text, index) => ({ name: index === 0 ? "append" : `append ${index + 1}`, text })),
    { name: "skills", text: skillsText(skills, tools) },
    ...contextSections(contextFiles),
    { name: "environment", text: `Working directory: ${escaped(cwd)}\nDate: ${date}` },
  ].filter(({ text }) => text.trim() !== "");
  return { sections, text: sections.map(({ text }) => text.trim()).join("\n\n") };
}

/** The name of the first section that differs, which invalidates a provider's cache. Undefined when none does. */
export function firstDifference(before: SystemPrompt, after: SystemPrompt): string | undefined {
  const length = Math.max(before.sections.length, after.sections.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [before.sections[index], after.sections[index]];
    if (a?.name !== b?.name || a?.text !== b?.text) return (b ?? a)!.name;
  }
  return undefined;
}

/** `2026-03-01`, in the local time zone. Without the time of day, which would invalidate the cache with every request. */
export function formatDate(now: number): string {
  const date = new Date(now);
  const digits = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

const identity = `You are tau, an agent that works on a person's computer, mostly on code, with the tools you are given. You look at how things are before you change them, you change what was asked for and nothing else, and you say plainly what you did and what you could not do.`;

/** Said whatever tools there are. */
const generalRules = [
  "Just call tools for what is routine; narrate only when it helps: before a long or risky step, or when the plan changes.",
  "Be brief. Write in the person's language. Name files by their paths, with a line number where it helps: src/main.ts:42.",
];

function defaultSections(tools: SystemPromptInput["tools"]): PromptSection[] {
  const lines = tools.map(formatToolLine);
  const rules = [...listGuidelines(tools), ...generalRules];
  return [
    { name: "identity", text: identity },
    { name: "tools", text: lines.length === 0 ? "" : `Your tools:\n${lines.join("\n")}` },
    { name: "rules", text: `How you work:\n${rules.map((rule) => `- ${rule}`).join("\n")}` },
  ];
}

/** Only the facts that help to choose a skill. Empty without a tool that reads files. */
function skillsText(skills: readonly Skill[], tools: SystemPromptInput["tools"]): string {
  const reader = findReader(tools);
  const shown = skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  if (reader === undefined || shown.length === 0) return "";
  const intro = `Skills are instructions for special tasks. When a task fits the description of one, read its whole file with ${reader.name} first, then follow it. Relative paths in it begin at its directory.`;
  const lines = shown.map(({ name, description, filePath }) =>
    [
      "<skill>",
      `<name>${escaped(name)}</name>`,
      `<description>${escaped(description)}</description>`,
      `<location>${escaped(filePath)}</location>`,
      "</skill>",
    ].join("\n"),
  );
  return `${intro}\n<available_skills>\n${lines.join("\n")}\n</available_skills>`;
}

/** One section for each file, so that a change is reported with the name of its file. */
function contextSections(files: readonly TextFile[]): PromptSection[] {
  const intro =
    "People have written these instructions for work in this place. Follow them; where two disagree, the later one counts.";
  return files.map(({ path, content }, index) => {
    const text = enclose("instructions", { path }, content.trim());
    return { name: `context ${path}`, text: index === 0 ? `${intro}\n\n${text}` : text };
  });
}
