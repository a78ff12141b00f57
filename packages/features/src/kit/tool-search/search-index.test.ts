import fc from "fast-check";
import { expect, test } from "vitest";
import {
  buildDiscoverableToolSearchIndex,
  type DiscoverableTool,
  searchDiscoverableTools,
  tokenize,
  tokenizeUnicode,
} from "./search-index.ts";

const createTool = (name: string, changes: Partial<DiscoverableTool> = {}): DiscoverableTool => ({
  name,
  label: name,
  summary: "",
  source: "extension",
  schemaKeys: [],
  ...changes,
});

test.each([
  ["camelCase", ["camel", "case"]],
  ["HTTPServer2Go", ["http", "server2", "go"]],
  ["mcp__docs__read-page", ["mcp", "docs", "read", "page"]],
  ["Café ÀLA", ["cafe", "ala"]],
  ["ﬁle №5", ["file", "no5"]],
  ["日本語 検索", ["日本語", "検索"]],
  ["__proto__", ["proto"]],
  ["", []],
  ["…!?", []],
])("the words of %j", (value, words) => {
  expect(tokenize(value)).toEqual(words);
});

test("ASCII has the same words either way", () => {
  const ascii = fc.string({ unit: "binary-ascii" });
  fc.assert(
    fc.property(ascii, (value) => {
      expect(tokenize(value)).toEqual(tokenizeUnicode(value));
    }),
    { numRuns: 2_000 },
  );
});

/** The formula, written down again without an index: for each tool all words of all fields, as often as they weigh. */
function rankNaively(tools: readonly DiscoverableTool[], query: string): { name: string; score: number }[] {
  const list = ({ name, label, summary, serverName = "", mcpToolName = "", schemaKeys }: DiscoverableTool): string[] =>
    [
      ...Array.from({ length: 6 }, () => name),
      ...Array.from({ length: 4 }, () => label),
      ...Array.from({ length: 4 }, () => mcpToolName),
      ...Array.from({ length: 2 }, () => serverName),
      ...Array.from({ length: 2 }, () => summary),
      ...schemaKeys,
    ].flatMap(tokenize);
  const count = (words: readonly string[], word: string) => words.filter((other) => other === word).length;
  const bags = tools.map(list);
  const average = bags.reduce((sum, { length }) => sum + length, 0) / bags.length;
  const scored = tools.map(({ name }, index) => {
    const bag = bags[index]!;
    const score = tokenize(query).reduce((sum, word) => {
      const frequency = count(bag, word);
      if (frequency === 0) return sum;
      const containing = bags.filter((other) => other.includes(word)).length;
      const idf = Math.log(1 + (tools.length - containing + 0.5) / (containing + 0.5));
      const norm = 1.2 * (1 - 0.75 + (0.75 * bag.length) / average);
      return sum + idf * ((frequency * 2.2) / (frequency + norm) + 1);
    }, 0);
    return { name, score };
  });
  return scored.filter(({ score }) => score > 0);
}

const word = fc.constantFrom("read", "write", "page", "git", "Issue", "list", "HTTPGet", "søk", "日本", "proto", "x");
const words = fc.array(word, { maxLength: 6 }).map((list) => list.join(" "));
const tool = fc.record(
  {
    name: fc.tuple(word, word).map((list) => list.join("_")),
    label: words,
    summary: words,
    source: fc.constantFrom("builtin" as const, "mcp" as const, "extension" as const, "custom" as const),
    serverName: word,
    mcpToolName: word,
    schemaKeys: fc.array(word, { maxLength: 4 }),
  },
  { requiredKeys: ["name", "label", "summary", "source", "schemaKeys"] },
);

test("the order and the scores are those of the formula", () => {
  const tools = fc.uniqueArray(tool, { selector: ({ name }) => name, maxLength: 12 });
  fc.assert(
    fc.property(tools, words, (all, query) => {
      const found = searchDiscoverableTools(buildDiscoverableToolSearchIndex(all), query, 100);
      const expected = new Map(rankNaively(all, query).map(({ name, score }) => [name, score]));
      expect(new Set(found.map((result) => result.tool.name))).toEqual(new Set(expected.keys()));
      for (const { tool: each, score } of found) expect(score).toBeCloseTo(expected.get(each.name)!, 9);
      for (const [index, { tool: each, score }] of found.entries()) {
        const next = found[index + 1];
        if (next?.score === score) expect(each.name.localeCompare(next.tool.name)).toBeLessThan(0);
        else if (next) expect(score).toBeGreaterThan(next.score);
      }
    }),
    { numRuns: 500 },
  );
});

test("a name weighs more than a label, a label more than a summary, and a summary more than a parameter", () => {
  const index = buildDiscoverableToolSearchIndex([
    createTool("d", { schemaKeys: ["wanted"] }),
    createTool("c", { summary: "wanted" }),
    createTool("b", { label: "wanted" }),
    createTool("wanted", { label: "a" }),
  ]);
  const names = searchDiscoverableTools(index, "wanted", 10).map((result) => result.tool.name);
  expect(names).toEqual(["wanted", "b", "c", "d"]);
});

test("equal scores are ordered by name, and the limit applies after that", () => {
  const index = buildDiscoverableToolSearchIndex(["b", "c", "a"].map((name) => createTool(name, { summary: "same" })));
  const search = (limit: number) => searchDiscoverableTools(index, "same", limit).map((result) => result.tool.name);
  expect(search(2)).toEqual(["a", "b"]);
  expect([search(0), search(-1)]).toEqual([[], []]);
});

test.each([[""], ["  \n"], ["?!…—"], ["nothing-like-it"], ["__proto__"], ["constructor"], ["\ud800"], ["\u0000"]])(
  "%j matches nothing, also without tools",
  (query) => {
    const index = buildDiscoverableToolSearchIndex([createTool("read"), createTool("hasOwnProperty")]);
    expect(searchDiscoverableTools(index, query, 5)).toEqual([]);
    expect(searchDiscoverableTools(buildDiscoverableToolSearchIndex([]), query, 5)).toEqual([]);
  },
);

test("a query of a megabyte is answered", () => {
  const index = buildDiscoverableToolSearchIndex([createTool("read_page"), createTool("write_page")]);
  const found = searchDiscoverableTools(index, "page read ".repeat(100_000), 5);
  expect(found.map((result) => result.tool.name)).toEqual(["read_page", "write_page"]);
});

test("tools without any word are there and never found", () => {
  const index = buildDiscoverableToolSearchIndex([createTool("…", { label: "!" })]);
  expect(index.averageLength).toBe(1);
  expect(searchDiscoverableTools(index, "anything", 5)).toEqual([]);
});
