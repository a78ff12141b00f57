import { expect, test } from "vitest";
import type { SearchData } from "../command-data.ts";
import { MessageSearch, splitExcerpt } from "./message-search.ts";

const hits = (text: string) => [{ author: text }] as unknown as SearchData["hits"];

test("of what is typed while a search is on its way, only the last text is searched for", async () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const changes: unknown[] = [];
  const search = new MessageSearch({
    search: async ({ text }) => {
      asked.push(text);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { hits: hits(text), hasMore: false };
    },
    onChange: (error) => changes.push(error),
  });
  const loads = ["p", "pa", "par"].map((text) => search.load({ text }));
  expect(search.isLoading).toBe(true);
  waiting.shift()!();
  await expect.poll(() => waiting.length).toBe(1);
  waiting.shift()!();
  await Promise.all(loads);
  expect(asked).toEqual(["p", "par"]);
  expect(search.hits).toEqual(hits("par"));
  expect(changes).toEqual([undefined]);
});

test("without a text nothing is asked for, and a failure leaves no hits of another text", async () => {
  const changes: unknown[] = [];
  const search = new MessageSearch({
    search: async ({ text }) => {
      if (text === "bad") throw new Error("no");
      return { hits: hits(text), hasMore: true };
    },
    onChange: (error) => changes.push(error),
  });
  await search.load({});
  expect(search.isLoading).toBe(false);
  await search.load({ text: "good" });
  expect(search.hasMore).toBe(true);
  await search.load({ text: "bad" });
  expect(search.hits).toEqual([]);
  await search.load({ text: "good" });
  await search.load({ text: " " });
  expect(search.hits).toEqual([]);
  expect(changes).toEqual([undefined, undefined, new Error("no"), undefined, undefined]);
});

test("an excerpt is split at its matches, with the beginning cut where there is little room", () => {
  const excerpt = {
    text: "one two three four",
    marks: [
      [4, 7],
      [14, 18],
    ] as [number, number][],
  };
  const show = (maxBefore?: number) =>
    splitExcerpt(excerpt, maxBefore === undefined ? {} : { maxBefore })
      .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
      .join("");
  expect(show()).toBe("one [two] three [four]");
  expect(show(2)).toBe("…e [two] three [four]");
  expect(show(0)).toBe("…[two] three [four]");
});
