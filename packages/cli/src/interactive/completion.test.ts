import type { CompletionData } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { createCompletion } from "./completion.ts";
import type { SessionClient } from "./session-client.ts";

/** A session that answers every `complete` with this. */
function createProvider(data: CompletionData) {
  const client: SessionClient = {
    sessionId: "session",
    execute: async () => data as never,
    subscribe: () => () => undefined,
    to: () => client,
  };
  return createCompletion(() => client);
}

const suggest = (data: CompletionData, text: string) =>
  createProvider(data).getSuggestions([text], 0, text.length, { signal: new AbortController().signal });

describe("suggestions for files", () => {
  test.each<[string, CompletionData, object | null]>([
    ["see @", { from: 5, items: [] }, null],
    ["see @", { from: 5, items: [], incomplete: true }, { items: [], prefix: "", isIncomplete: true }],
    [
      'see @"my',
      { from: 5, items: [{ value: '"my dir/"' }] },
      { items: [{ value: '"my dir/"', label: '"my dir/"' }], prefix: '"my', isIncomplete: false },
    ],
  ])("%j", async (text, data, expected) => {
    expect(await suggest(data, text)).toEqual(expected);
  });
});

describe("a suggestion that is taken", () => {
  test.each([
    ["@m| x", "main.ts", "m", "@main.ts | x"],
    ["@s|", "src/", "s", "@src/|"],
    ['@"my|', '"my dir/"', '"my', '@"my dir/|"'],
    ['@"my|"', '"my dir/"', '"my', '@"my dir/|"'],
    ["@my|", '"my file"', "my", '@"my file" |'],
    ["@hi|", `'say "hi"/'`, "hi", `@'say "hi"/|'`],
    ['"@m|"', "main.ts", "m", '"@main.ts |"'],
  ])("%s + %s", (text, value, prefix, expected) => {
    const col = text.indexOf("|");
    const provider = createProvider({ from: 0, items: [] });
    const item = { value, label: value };
    const { lines, cursorCol } = provider.applyCompletion([text.replace("|", "")], 0, col, item, prefix);
    expect(`${lines[0]!.slice(0, cursorCol)}|${lines[0]!.slice(cursorCol)}`).toBe(expected);
  });
});
