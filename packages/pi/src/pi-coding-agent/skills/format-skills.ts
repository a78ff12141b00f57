import type { Skill } from "./skill.ts";

/** The list of skills for a system prompt; empty without skills that a model may use. */
export function formatSkillsForPrompt(skills: readonly Skill[]): string {
  const usable = skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  if (usable.length === 0) return "";
  const entries = usable.flatMap(({ name, description, filePath }) => [
    "  <skill>",
    `    <name>${escapeXml(name)}</name>`,
    `    <description>${escapeXml(description)}</description>`,
    `    <location>${escapeXml(filePath)}</location>`,
    "  </skill>",
  ]);
  const introduction = [
    "Skills are instructions for particular tasks. If one fits what you are asked to do, read its file first and follow it.",
    "Paths in a skill are relative to the directory of its file.",
  ];
  return ["", "", ...introduction, "", "<available_skills>", ...entries, "</available_skills>"].join("\n");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char]!);
