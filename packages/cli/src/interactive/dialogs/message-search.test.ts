import type { SearchHitData } from "@tau/protocol";
import { MessageSearch } from "@tau/protocol/surface";
import { stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Themes } from "../themes.ts";
import { MessageSearchDialog } from "./message-search.ts";

const [enter, escape, down, tab] = ["\r", "\x1b", "\x1b[B", "\t"];

const hit = (name: string, text: string, mark: [number, number]): SearchHitData => ({
  session: { id: name, path: `/${name}`, name, modifiedAt: "2026-01-01T00:00:00.000Z" } as SearchHitData["session"],
  entryId: `e-${name}`,
  author: "user",
  timestamp: "1970-01-01T00:00:00.000Z",
  excerpt: { text, marks: [mark] },
});

const hits = [
  hit("fence", "a long beginning before the parser that failed", [28, 34]),
  hit("lawn", "parser\u202e and \u001b[31mlexer", [0, 6]),
];

function openSearch() {
  const calls: string[] = [];
  const waiting: (() => void)[] = [];
  const search = new MessageSearch({
    search: async ({ text, all }) => {
      calls.push(`search ${text}${all ? " everywhere" : ""}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { hits: hits.filter(({ excerpt }) => excerpt.text.includes(text)), hasMore: true };
    },
    onChange: () => {},
    query: { text: "pars" },
  });
  const dialog = new MessageSearchDialog({
    search,
    theme: new Themes({ mode: "none", files: [] }).theme,
    getMaxRows: () => 10,
    now: () => 7_200_000,
    describeKey: String,
    onSelect: ({ entryId }) => calls.push(`open ${entryId}`),
    onCancel: () => calls.push("cancel"),
  });
  void search.load({});
  const type = (...keys: string[]) => {
    for (const key of keys) dialog.handleInput(key);
  };
  const settle = async () => {
    while (search.isLoading) {
      for (const resolve of waiting.splice(0)) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { type, settle, calls, draw: () => stripTerminalSequences(dialog.render(80).join("\n")) };
}

test("what was typed in the list is searched for at once, and a row shows the match, its session and its age", async () => {
  const { settle, draw, calls } = openSearch();
  expect(draw()).toContain("Searching…");
  await settle();
  expect(calls).toEqual(["search pars"]);
  const lines = draw().split("\n");
  expect(lines.find((line) => line.includes("fence"))).toMatch(/^→ …ning before the parser that failed +fence · 2 h$/);
  expect(lines.find((line) => line.includes("lawn"))).toContain(" and lexer ");
  expect(lines.find((line) => line.includes("2+"))).toBeDefined();
});

test("Enter opens the selected message, not one that other words have found", async () => {
  const { type, settle, calls } = openSearch();
  await settle();
  type(down, enter, "e", enter);
  expect(calls).toEqual(["search pars", "open e-lawn", "search parse"]);
  await settle();
  type(tab);
  await settle();
  type(escape);
  expect(calls.slice(3)).toEqual(["search parse everywhere", "cancel"]);
});
