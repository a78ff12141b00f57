/** The YAML between two lines of dashes at the beginning of a Markdown file. */
import { problemAt, type ResourceProblem } from "./problem.ts";
import { parseYaml } from "./yaml.ts";

export interface FrontMatter {
  /** Undefined where the file has none. */
  fields: ReadonlyMap<string, FieldValue> | undefined;
  /** What comes after it, without the blank lines around it. */
  body: string;
  /** Why the front matter cannot be used; the body is good all the same. */
  problem?: ResourceProblem;
}

export interface FieldValue {
  value: unknown;
  /** In the whole file, 1-based. */
  line: number;
}

/** `path` is only for the words of a problem. */
export async function parseFrontMatter(path: string, text: string): Promise<FrontMatter> {
  const { yaml, body } = split(text);
  if (yaml === undefined) return { fields: undefined, body };
  // The dashes are line 1.
  const parsed = await parseYaml(path, yaml, { linesBefore: 1 });
  if (parsed.kind === "invalid") return { fields: new Map(), body, problem: parsed.problem };
  const { root } = parsed;
  if (root.kind === "map") {
    return { fields: new Map([...root.entries].map(([key, { line, value }]) => [key, { line, value }])), body };
  }
  if (root.kind === "empty") return { fields: new Map(), body };
  const problem = problemAt("invalid", { path, line: 2 }, "front matter is made of lines like `name: value`.");
  return { fields: new Map(), body, problem };
}

/** Dashes that nothing closes are a rule across the page, not front matter. */
function split(text: string): { yaml: string | undefined; body: string } {
  const plain = text.replace(/\r\n?/g, "\n");
  const match = /^---[ \t]*\n([\s\S]*?)(?<=\n)---[ \t]*(?:\n|$)/.exec(plain);
  if (!match) return { yaml: undefined, body: plain.trim() };
  return { yaml: match[1]!, body: plain.slice(match[0].length).trim() };
}
