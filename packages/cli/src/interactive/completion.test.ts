import type { CompletionData } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { createCompletion } from "./completion.ts";
import type { SessionClient } from "./session-client.ts";
import { Themes } from "./themes.ts";

/** A session that answers every command with this. */
function createProvider(data: object) {
  const client: SessionClient = {
    sessionId: "session",
    execute: async () => data as never,
    subscribe: () => () => undefined,
    to: () => client,
  };
  const themes = new Themes({ mode: "none", files: [] });
  return createCompletion(() => ({ client, themes }));
}

const suggest = (data: object, text: string, force = false) =>
  createProvider(data).getSuggestions([text], 0, text.length, { signal: new AbortController().signal, force });

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

describe("suggestions for commands", () => {
  const skill = { value: "skill:review", description: "Looks at changes" };
  const getValues = async (text: string, items: readonly object[] = []) =>
    (await suggest({ from: 1, items }, text))?.items.map(({ value }) => value);

  test("have the letters in their order, the best first", async () => {
    expect(await getValues("/mo")).toEqual(["/model", "/scoped-models", "/import", "/permissions"]);
    expect(await getValues("/review", [skill])).toEqual(["/skill:review"]);
    expect(await getValues("/reload", [skill])).toEqual(["/reload"]);
    expect(await getValues("/xyz")).toBeUndefined();
  });

  test("leave out a command of ours where an extension has one of that name", async () => {
    expect(await getValues("/theme", [{ value: "theme", description: "mine" }])).toEqual(["/theme"]);
  });
});

describe("suggestions for arguments of commands", () => {
  const levels = { levels: ["off", "low", "high"] };

  test.each([
    ["/thinking h", levels, ["high"]],
    ["/thinking o", levels, ["off", "low"]],
    ["/theme con", {}, ["high-contrast"]],
    ["/login thr", { providers: [{ name: "anthropic" }, { name: "openai" }] }, ["anthropic"]],
    ["/logout a", { providers: [{ name: "acme", configured: true }, { name: "azure" }] }, ["acme"]],
  ])("%j", async (text, data, values) => {
    const suggestions = await suggest(data, text);
    expect(suggestions?.items.map(({ value }) => value)).toEqual(values);
    expect(suggestions?.prefix).toBe(text.split(" ")[1]);
  });

  test("are not in the way of Enter: not before something is typed, and not for what is typed already", async () => {
    const nothing = { from: 0, items: [], ...levels };
    expect(await suggest(nothing, "/thinking ")).toBeNull();
    expect(await suggest(nothing, "/thinking high")).toBeNull();
    expect((await suggest(nothing, "/thinking ", true))?.items).toHaveLength(3);
  });
});

describe("a suggestion that is taken", () => {
  test.each([
    ["@m| x", "main.ts", "m", "@main.ts |x"],
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
