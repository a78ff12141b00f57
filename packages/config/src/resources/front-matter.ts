/** The YAML between two lines of dashes at the beginning of a Markdown file. */
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { parseYaml } from "./yaml.ts";

interface FrontMatter {
  /** Undefined if the file has no front matter. */
  fields: ReadonlyMap<string, FieldValue> | undefined;
  /** The text after it, trimmed. */
  body: string;
  /** Why the front matter cannot be used. The body can be used all the same. */
  problem?: ResourceProblem;
}

export interface FieldValue {
  value: unknown;
  /** In the whole file, 1-based. */
  line: number;
}

/** `path` is for problems. */
export async function parseFrontMatter(path: string, text: string): Promise<FrontMatter> {
  const { yaml, body } = splitFrontMatter(text);
  if (yaml === undefined) return { fields: undefined, body };
  // Line 1 is the dashes.
  const parsed = await parseYaml(path, yaml, { linesBefore: 1 });
  if (parsed.kind === "invalid") return { fields: new Map(), body, problem: parsed.problem };
  const { root } = parsed;
  if (root.kind === "map") return { fields: root.entries, body };
  if (root.kind === "empty") return { fields: new Map(), body };
  const problem = createProblem(
    "invalid",
    { path, line: 2 },
    "The front matter has to be lines such as `name: value`.",
  );
  return { fields: new Map(), body, problem };
}

/** A line of dashes without a second one is a horizontal rule, not front matter. */
export function splitFrontMatter(text: string): { yaml: string | undefined; body: string } {
  const plain = text.replace(/\r\n?/g, "\n");
  const match = /^---[ \t]*\n([\s\S]*?)(?<=\n)---[ \t]*(?:\n|$)/.exec(plain);
  if (!match) return { yaml: undefined, body: plain.trim() };
  return { yaml: match[1]!, body: plain.slice(match[0].length).trim() };
}

const maxDescriptionCharacters = 80;

/** The beginning of the first line of a text, to describe it. */
export function getFirstLine(text: string): string {
  const line = /\S[^\n]*/.exec(text)?.[0].trimEnd() ?? "";
  return line.length > maxDescriptionCharacters ? `${line.slice(0, maxDescriptionCharacters).toWellFormed()}…` : line;
}
