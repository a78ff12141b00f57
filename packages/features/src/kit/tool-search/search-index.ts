/** Ranks tools by how well their names, descriptions and parameters fit a query: BM25+ over weighted fields. Pure. */
import { getNormalization, getRarity, scoreTerm } from "./bm25.ts";

export type DiscoverableToolSource = "builtin" | "mcp" | "extension" | "custom";

/** A tool as it is searched for. */
export interface DiscoverableTool {
  name: string;
  label: string;
  /** The first 200 characters of its description. */
  summary: string;
  source: DiscoverableToolSource;
  /** Only of a tool of an MCP server. */
  serverName?: string;
  /** Its name on that server. */
  mcpToolName?: string;
  /** The names of its parameters. */
  schemaKeys: string[];
}

export interface DiscoverableToolSearchDocument {
  tool: DiscoverableTool;
  /** How often each word occurs; an occurrence counts with the weight of its field. */
  termFrequencies: Map<string, number>;
  /** The sum of the frequencies. */
  length: number;
}

export interface DiscoverableToolSearchIndex {
  documents: DiscoverableToolSearchDocument[];
  averageLength: number;
  /** In how many documents each word occurs. */
  documentFrequencies: Map<string, number>;
}

export interface DiscoverableToolSearchResult {
  tool: DiscoverableTool;
  score: number;
}

const fieldWeights = { name: 6, label: 4, mcpToolName: 4, serverName: 2, summary: 2, schemaKey: 1 } as const;

/** Returns the words of a text, in lower case and without accents. `camelCase` and `HTTPServer` are two words each. */
export function tokenize(value: string): string[] {
  return isAscii.test(value) ? tokenizeAscii(value) : tokenizeUnicode(value);
}

// oxlint-disable-next-line no-control-regex -- all characters of ASCII
const isAscii = /^[\u0000-\u007f]*$/;

/** Finds the same words as `tokenizeUnicode`, several times as fast: nearly all tools are described in ASCII. */
const tokenizeAscii = (value: string): string[] =>
  value
    .replace(/(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])/g, " ")
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];

/** For texts in any script. */
export function tokenizeUnicode(value: string): string[] {
  return value
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .filter((token) => token.length > 0);
}

export function buildDiscoverableToolSearchIndex(tools: Iterable<DiscoverableTool>): DiscoverableToolSearchIndex {
  const documentFrequencies = new Map<string, number>();
  const cache = new Map<string, string[]>();
  const documents = Array.from(tools, (tool) => createDocument(tool, { documentFrequencies, cache }));
  const total = documents.reduce((sum, { length }) => sum + length, 0);
  // A division by it must give a number, also without any word.
  return { documents, averageLength: total / documents.length || 1, documentFrequencies };
}

/** Returns the best matches first; equal ones are ordered by name. A query without words matches nothing. */
export function searchDiscoverableTools(
  { documents, averageLength, documentFrequencies }: DiscoverableToolSearchIndex,
  query: string,
  limit: number,
): DiscoverableToolSearchResult[] {
  const queryFrequencies = new Map<string, number>();
  for (const token of tokenize(query)) add(queryFrequencies, token, 1);
  const terms = [...queryFrequencies].flatMap(([token, count]) => {
    const frequency = documentFrequencies.get(token);
    if (frequency === undefined) return [];
    return [{ token, weight: count * getRarity(documents.length, frequency) }];
  });
  const results: DiscoverableToolSearchResult[] = [];
  for (const { tool, termFrequencies, length } of terms.length === 0 ? [] : documents) {
    const normalization = getNormalization(length / averageLength);
    let score = 0;
    for (const { token, weight } of terms) {
      const frequency = termFrequencies.get(token);
      if (frequency !== undefined) score += weight * scoreTerm(frequency, normalization);
    }
    if (score > 0) results.push({ tool, score });
  }
  return keepBest(results, Math.max(0, limit))
    .sort((left, right) => right.score - left.score || compareNames(left.tool.name, right.tool.name))
    .slice(0, Math.max(0, limit));
}

/** The results with the `count` highest scores, and those that are equal to the last of them: comparing names is slow. */
function keepBest(results: DiscoverableToolSearchResult[], count: number): DiscoverableToolSearchResult[] {
  if (results.length <= count) return results;
  const scores = Float64Array.from(results, ({ score }) => score).sort();
  const lowest = scores[results.length - count] ?? Number.POSITIVE_INFINITY;
  return results.filter(({ score }) => score >= lowest);
}

const { compare: compareNames } = new Intl.Collator();

interface IndexParts {
  documentFrequencies: Map<string, number>;
  /** The words of each text so far: labels, servers and parameters repeat. */
  cache: Map<string, string[]>;
}

function createDocument(
  tool: DiscoverableTool,
  { documentFrequencies, cache }: IndexParts,
): DiscoverableToolSearchDocument {
  const counts = { termFrequencies: new Map<string, number>(), documentFrequencies };
  let length = 0;
  const addField = (text: string | undefined, weight: number) => {
    if (text === undefined) return;
    const tokens = cache.get(text) ?? tokenize(text);
    cache.set(text, tokens);
    countTokens(tokens, weight, counts);
    length += tokens.length * weight;
  };
  addField(tool.name, fieldWeights.name);
  addField(tool.label, fieldWeights.label);
  addField(tool.mcpToolName, fieldWeights.mcpToolName);
  addField(tool.serverName, fieldWeights.serverName);
  addField(tool.summary, fieldWeights.summary);
  for (const key of tool.schemaKeys) addField(key, fieldWeights.schemaKey);
  return { tool, termFrequencies: counts.termFrequencies, length };
}

interface TokenCounts {
  termFrequencies: Map<string, number>;
  documentFrequencies: Map<string, number>;
}

/** Counts both in one pass: the words of a document are not gone through again. */
function countTokens(tokens: readonly string[], weight: number, counts: TokenCounts): void {
  const { termFrequencies, documentFrequencies } = counts;
  for (const token of tokens) {
    const frequency = termFrequencies.get(token);
    if (frequency === undefined) add(documentFrequencies, token, 1);
    termFrequencies.set(token, (frequency ?? 0) + weight);
  }
}

const add = (counts: Map<string, number>, key: string, count: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + count);
