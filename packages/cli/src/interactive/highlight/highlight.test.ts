import { createTheme, builtInThemes, stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Highlighter } from "./highlight.ts";

const theme = createTheme(builtInThemes[0]!, "truecolor");

async function highlight(code: string, language: string): Promise<string[]> {
  const highlighter = await new Promise<Highlighter>((resolve) => {
    const loading: Highlighter = new Highlighter(theme, () => resolve(loading));
    loading.highlightLine("", language, undefined);
  });
  let state: unknown;
  return code.split("\n").map((line) => {
    const drawn = highlighter.highlightLine(line, language, state);
    state = drawn.state;
    return drawn.line;
  });
}

const color = (name: Parameters<typeof theme.fg>[0]) => theme.fg(name, "x").split("x")[0]!;

test("keywords, strings and comments have their colors, and the text stays the same", async () => {
  const code = 'const name = "tau"; // a comment';
  const [line = ""] = await highlight(code, "ts");
  expect(stripTerminalSequences(line)).toBe(code);
  expect(line).toContain(`${color("syntaxKeyword")}const`);
  expect(line).toContain(`${color("syntaxString")}"tau"`);
  expect(line).toContain(`${color("syntaxComment")}// a comment`);
});

test("a comment over several lines stays one, however the lines arrive", async () => {
  const lines = await highlight("/* one\ntwo\nthree */ return 1;", "js");
  expect(lines.map(stripTerminalSequences)).toEqual(["/* one", "two", "three */ return 1;"]);
  expect(lines[1]).toContain(`${color("syntaxComment")}two`);
  expect(lines[2]).toContain(`${color("syntaxKeyword")}return`);
});

test("a line of 1,000 characters is colored, a longer one is plain and ends what was open", async () => {
  const longest = "return 1;".padEnd(1_000, "x");
  const [colored, open, plain, next] = await highlight(`${longest}\n/*\n${longest}x\nreturn 2;`, "ts");
  expect([colored, next]).toEqual(Array(2).fill(expect.stringContaining(color("syntaxKeyword"))));
  expect([open, plain]).toEqual([theme.fg("syntaxComment", "/*"), theme.fg("mdCodeBlock", `${longest}x`)]);
});

test("an unknown language is plain, and names of objects are no languages", async () => {
  const unknown = ["", "klingon", "constructor", "extend", "__proto__"];
  const loaded: string[] = [];
  const highlighter: Highlighter = new Highlighter(theme, () => loaded.push("one"));
  const draw = (language: string) => highlighter.highlightLine("if (x) return;", language, undefined).line;
  for (const language of [...unknown, "js"]) draw(language);
  await expect.poll(() => loaded).toEqual(["one"]);
  expect(draw("js")).toContain(color("syntaxKeyword"));
  for (const language of unknown) expect(draw(language)).toBe(theme.fg("mdCodeBlock", "if (x) return;"));
});

test.each(
  `tsx cpp php markup css javascript typescript jsx json bash python rust go c csharp java kotlin swift ruby lua sql yaml toml ini
   diff docker makefile markdown`.split(/\s+/),
)("%s is loaded with all that it needs", async (language) => {
  const code = 'if (x) { return "a"; } // 1';
  expect((await highlight(code, language)).map(stripTerminalSequences)).toEqual([code]);
});

test("code whose language cannot be loaded is plain", async () => {
  const loading: Promise<never>[] = [];
  const highlighter = new Highlighter(
    theme,
    () => {},
    () => {
      loading.push(Promise.reject(new Error("The file is gone.")));
      return loading[0]!;
    },
  );
  const plain = { line: theme.fg("mdCodeBlock", "return 1;"), state: { open: [] } };
  expect(highlighter.highlightLine("return 1;", "ts", undefined)).toEqual(plain);
  await Promise.allSettled(loading);
  expect(highlighter.highlightLine("return 1;", "ts", undefined)).toEqual(plain);
});
