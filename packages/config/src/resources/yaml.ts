/** Parses YAML, with the line of every key for messages. */
import { createProblem, type ResourceProblem } from "./resource-problem.ts";

export type YamlRoot =
  | { kind: "map"; entries: ReadonlyMap<string, YamlEntry> }
  | { kind: "list"; items: readonly YamlEntry[] }
  | { kind: "empty" }
  | { kind: "scalar"; value: unknown };

export interface YamlEntry {
  /** The value as plain JSON. */
  value: unknown;
  /** 1-based. */
  line: number;
  /** The entries inside of it. */
  below: () => YamlRoot;
}

type YamlOutcome = { kind: "parsed"; root: YamlRoot } | { kind: "invalid"; problem: ResourceProblem };

/** `linesBefore` is the number of lines in the file before the text. */
export async function parseYaml(
  path: string,
  text: string,
  { linesBefore = 0 }: { linesBefore?: number } = {},
): Promise<YamlOutcome> {
  // Imported late, since most sessions have no YAML.
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number) => lines.linePos(offset).line + linesBefore;
  const invalid = (offset: number, why: string): YamlOutcome => {
    const advice = "Put strings with a colon or other special characters in quotes.";
    return { kind: "invalid", problem: createProblem("invalid", { path, line: lineAt(offset) }, `${why} ${advice}`) };
  };
  const error = document.errors[0];
  if (error) return invalid(error.pos[0], `This is not valid YAML: ${toSentence(error.message)}`);

  let current = 0;
  const getStart = (node: unknown) => (node as { range?: readonly number[] | null } | null)?.range?.[0];
  const getEntry = (node: unknown, line: number): YamlEntry => {
    current = getStart(node) ?? current;
    return { value: plain(node), line, below: () => getRoot(isAlias(node) ? node.resolve(document) : node) };
  };
  const getLine = (node: unknown) => lineAt(getStart(node) ?? 0);
  const plain = (node: unknown): unknown =>
    node === null || node === undefined ? null : (node as { toJS(of: unknown): unknown }).toJS(document);
  const getRoot = (node: unknown): YamlRoot => {
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }): [string, YamlEntry] => [
        isScalar(key) ? String(key.value) : String(key),
        getEntry(value, getLine(key)),
      ]);
      return { kind: "map", entries: new Map(entries) };
    }
    if (isSeq(node)) return { kind: "list", items: node.items.map((item) => getEntry(item, getLine(item))) };
    const value = plain(node);
    return value === null ? { kind: "empty" } : { kind: "scalar", value };
  };
  try {
    const root = getRoot(document.contents);
    if (!isCircular(plain(document.contents))) return { kind: "parsed", root };
    return invalid(0, "This is not valid YAML: An alias is inside of what it stands for.");
  } catch (error) {
    // An alias without an anchor, or far too many aliases.
    if (error instanceof ReferenceError)
      return invalid(current, `This is not valid YAML: ${toSentence(error.message)}`);
    throw error;
  }
}

function isCircular(value: unknown, above: readonly unknown[] = []): boolean {
  if (typeof value !== "object" || value === null) return false;
  return above.includes(value) || Object.values(value).some((item) => isCircular(item, [...above, value]));
}

const toSentence = (text: string) => `${text.replaceAll(/\s+/g, " ").replace(/[.:]$/, "")}.`;
