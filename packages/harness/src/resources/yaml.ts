/** YAML with the line of every key, so that a mistake can be pointed at. */
import { type ResourceProblem, problemAt } from "./problem.ts";

export type YamlRoot =
  | { kind: "map"; entries: ReadonlyMap<string, YamlEntry> }
  | { kind: "list"; items: readonly YamlEntry[] }
  | { kind: "empty" }
  | { kind: "scalar"; value: unknown };

export interface YamlEntry {
  /** As plain JSON. */
  value: unknown;
  /** 1-based. */
  line: number;
  /** The same again for what is below it. */
  below: () => YamlRoot;
}

export type YamlOutcome = { kind: "parsed"; root: YamlRoot } | { kind: "invalid"; problem: ResourceProblem };

/** `linesBefore` is how many lines of the file stand before the text. */
export async function parseYaml(
  path: string,
  text: string,
  { linesBefore = 0 }: { linesBefore?: number } = {},
): Promise<YamlOutcome> {
  // Most sessions have nothing in YAML.
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number) => lines.linePos(offset).line + linesBefore;
  const invalid = (offset: number, why: string): YamlOutcome => {
    const advice = "Put a text with a colon or other signs into quotes.";
    return { kind: "invalid", problem: problemAt("invalid", { path, line: lineAt(offset) }, `${why} ${advice}`) };
  };
  const mistake = document.errors[0];
  if (mistake) return invalid(mistake.pos[0], `this is not valid YAML: ${sentence(mistake.message)}`);

  let current = 0;
  const getEntry = (node: unknown, line: number): YamlEntry => {
    current = (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? current;
    return { value: plain(node), line, below: () => getRoot(isAlias(node) ? node.resolve(document) : node) };
  };
  const formatLine = (node: unknown, otherwise = 1 + linesBefore) => {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    return range ? lineAt(range[0]!) : otherwise;
  };
  const plain = (node: unknown): unknown =>
    node === null || node === undefined ? null : (node as { toJS(of: unknown): unknown }).toJS(document);
  const getRoot = (node: unknown): YamlRoot => {
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }): [string, YamlEntry] => [
        isScalar(key) ? String(key.value) : String(key),
        getEntry(value, formatLine(key)),
      ]);
      return { kind: "map", entries: new Map(entries) };
    }
    if (isSeq(node)) return { kind: "list", items: node.items.map((item) => getEntry(item, formatLine(item))) };
    const value = plain(node);
    return value === null ? { kind: "empty" } : { kind: "scalar", value };
  };
  try {
    return { kind: "parsed", root: getRoot(document.contents) };
  } catch (error) {
    // An alias that leads nowhere, or more of them than anybody writes by hand.
    if (error instanceof ReferenceError) return invalid(current, `this is not valid YAML: ${sentence(error.message)}`);
    throw error;
  }
}

const sentence = (text: string) => `${text.replaceAll(/\s+/g, " ").replace(/[.:]$/, "")}.`;
