/** `models.json`: what a person says about providers and models, in pi's format, with comments and trailing commas. */
import { getKey, type Path } from "./fields.ts";
import { type ProviderConfig, readProviders } from "./schema.ts";

/** Something in the file that cannot be used. Never holds a key or the value of a header. */
export interface ModelsProblem {
  file: string;
  /** From 1; absent when the file as a whole is meant. */
  line?: number;
  /** Such as `providers.ollama.models[0].id`. */
  key?: string;
  message: string;
}

/** One line for a person. */
export const describeProblem = ({ file, line, key, message }: ModelsProblem): string =>
  [line === undefined ? file : `${file}:${line}`, key, message].filter((part) => part !== undefined).join(": ");

export interface ModelsFile {
  providers: ReadonlyMap<string, ProviderConfig>;
  problems: ModelsProblem[];
}

/** `broken` is no JSON at all: nothing of it can be believed. */
export type ParsedModels = ({ kind: "read" } & ModelsFile) | { kind: "broken"; problem: ModelsProblem };

/** Deeper than any real file; the parser calls itself for each level. */
const deepest = 64;

export async function parseModels(text: string, file: string): Promise<ParsedModels> {
  const { getNodeValue, parseTree, printParseErrorCode } = await import("../jsonc.ts");
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  const body = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  const tooDeep = offsetOfDepth(body, deepest);
  if (tooDeep !== undefined)
    return {
      kind: "broken",
      problem: { file, line: lineAt(tooDeep), message: `This is nested more than ${deepest} levels deep.` },
    };
  const errors: { error: number; offset: number; length: number }[] = [];
  const root = parseTree(body, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first || !root) {
    const what = first ? printParseErrorCode(first.error) : "ValueExpected";
    const problem = { file, line: lineAt(first?.offset ?? 0), message: `This is not JSON: ${inWords(what)}.` };
    return { kind: "broken", problem };
  }
  const problems: ModelsProblem[] = [];
  const report = ({ offset }: { offset: number }, path: Path, message: string) => {
    const key = getKey(path);
    problems.push({ file, line: lineAt(offset), ...(key !== "" && { key }), message });
  };
  const located = { formatLine: ({ offset }: { offset: number }) => lineAt(offset), getValue: getNodeValue };
  const providers = readProviders(located)(root, [], report) ?? new Map<string, ProviderConfig>();
  return { kind: "read", providers, problems };
}

/** `CommaExpected` → `comma expected`. */
const inWords = (code: string) => code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();

/** Where brackets are first open more than `most` deep; those inside texts do not count. */
function offsetOfDepth(text: string, most: number): number | undefined {
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|[[\]{}]/g)) {
    if (found === "[" || found === "{") depth++;
    if (found === "]" || found === "}") depth--;
    if (depth > most) return index;
  }
  return undefined;
}
