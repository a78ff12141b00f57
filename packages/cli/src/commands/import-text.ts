/** Texts about an import: what was found, what is brought, and what is not. Pure. */
import {
  type ImportKind,
  importKinds,
  type ImportStep,
  type ImportTool,
  type LeftItem,
  toolTitles,
} from "@tau/config/imports";
import type { ImportedForeignSession, ImportOutcome } from "@tau/harness/imports";

const kindTitles: Readonly<Record<ImportKind, string>> = {
  sessions: "sessions",
  settings: "settings",
  models: "models and providers",
  instructions: "instructions",
  skills: "skills",
  prompts: "prompts and commands",
  agents: "agents",
  hooks: "hooks",
  packages: "packages and extensions",
  mcp: "MCP servers",
  keybindings: "key bindings",
  themes: "themes",
  keys: "keys and logins",
};

export const getKindTitle = (kind: ImportKind): string => kindTitles[kind];

/** How many names of a kind are listed. */
const maxNames = 8;

/** Things of one kind, by program. */
export interface FoundKind {
  kind: ImportKind;
  groups: readonly { tool: ImportTool; names: readonly string[]; count: number; bytes?: number }[];
}

/** Formats one line for each kind. */
export function formatFound(kinds: readonly FoundKind[]): string {
  const width = Math.max(...kinds.map(({ kind }) => getKindTitle(kind).length));
  const lines = kinds.map(({ kind, groups }) => {
    const parts = groups.map(({ tool, names, count, bytes }) => {
      const size = bytes === undefined || bytes === 0 ? "" : ` (${(bytes / 1024 / 1024).toFixed(1)} MB)`;
      if (names.length === 0) return `${count} of ${toolTitles[tool]}${size}`;
      const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
      return `${names.slice(0, maxNames).map(toVisible).join(", ")}${more} (${toolTitles[tool]})`;
    });
    return `  ${getKindTitle(kind).padEnd(width)}  ${parts.join("; ")}\n`;
  });
  return lines.join("");
}

/** Groups the steps of a plan by kind and program, in the order in which they are asked about. */
export function groupSteps(steps: readonly ImportStep[]): FoundKind[] {
  return importKinds.flatMap((kind): FoundKind[] => {
    const ofKind = steps.filter((step) => step.kind === kind);
    const tools = [...new Set(ofKind.map(({ tool }) => tool))];
    if (tools.length === 0) return [];
    const groups = tools.map((tool) => {
      // A setting of theirs may become two of ours.
      const names = [...new Set(ofKind.filter((step) => step.tool === tool).map(({ name }) => name))];
      return { tool, names, count: names.length };
    });
    return [{ kind, groups }];
  });
}

/** A line for each thing that is not brought, with the reason. What is here already is only counted. */
export function formatLeft(left: readonly LeftItem[]): string {
  const named = left.filter(({ why }) => why !== "present");
  const lines = [...new Set(named.map(formatLeftItem))];
  const count = left.length - named.length;
  const present = count === 0 ? "" : `${count} ${count === 1 ? "thing is" : "things are"} here already.\n`;
  return lines.length === 0 ? present : `Not brought:\n${lines.join("")}${present}`;
}

const formatLeftItem = ({ tool, kind, name, reason }: LeftItem) =>
  `  ${toolTitles[tool]}, ${getKindTitle(kind)}: ${toVisible(name)} ${toVisible(reason)}.\n`;

/** Names are those of files and keys of other programs: one with a line break would look like a line of ours. */
const toVisible = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, "\ufffd"),
  );

/** Counts what became of sessions, with a line for each that failed or lost something. */
export function formatSessions(imported: readonly ImportedForeignSession[]): string {
  const count = (kind: ImportOutcome["kind"]) => imported.filter(({ outcome }) => outcome.kind === kind).length;
  const amounts = (
    [
      ["imported", "imported"],
      ["extended", "got what was new"],
      ["unchanged", "had nothing new"],
      ["empty", "held no messages"],
      ["deleted", "were imported before and deleted here, so they stay deleted"],
      ["continued", "were continued here, or are sessions of your own, so they were not touched"],
      ["failed", "failed"],
    ] as const
  )
    .filter(([kind]) => count(kind) > 0)
    .map(([kind, words]) => `${count(kind)} ${words}`);
  const details = imported.flatMap(({ session, outcome }) => {
    if (outcome.kind === "failed") return [`  ${session.path} ${outcome.message}.\n`];
    if (outcome.kind !== "imported" && outcome.kind !== "extended") return [];
    return outcome.notes.map(({ count: times, message }) => `  ${session.path}: ${message} (${times} times).\n`);
  });
  return `Sessions: ${amounts.join("; ")}.\n${details.join("").replaceAll(" (1 times)", "")}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function formatList(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
