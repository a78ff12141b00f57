import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CombinedAutocompleteProvider } from "./autocomplete.ts";

const files = [
  "src/main.ts",
  "src/util/a.ts",
  "README.md",
  "my dir/in side.txt",
  "my file.txt",
  ".env",
  ".git/HEAD",
  "zeta/main.c",
];
let folder = "";
let home: string | undefined;
let provider: CombinedAutocompleteProvider;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "completion-"));
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), "");
  }
  await symlink(folder, join(folder, "zeta", "loop"));
  home = process.env.HOME;
  process.env.HOME = folder;
  provider = new CombinedAutocompleteProvider(
    [
      { name: "help", description: "Show help" },
      {
        name: "model",
        description: "Pick a model",
        argumentHint: "<name>",
        getArgumentCompletions: (prefix) =>
          ["large", "little"].filter((name) => name.startsWith(prefix)).map((value) => ({ value, label: value })),
      },
      { name: "hotkeys" },
    ],
    folder,
  );
});

afterAll(async () => {
  if (home !== undefined) process.env.HOME = home;
  await rm(folder, { recursive: true });
});

async function suggest(text: string, force = false, signal = new AbortController().signal) {
  const suggestions = await provider.getSuggestions([text], 0, text.length, { signal, force });
  return suggestions && [suggestions.prefix, ...suggestions.items.map(({ value }) => value)];
}

describe("suggestions", () => {
  test.each<[string, string[] | null]>([
    ["/", ["/", "help", "model", "hotkeys"]],
    ["/he", ["/he", "help", "hotkeys"]],
    ["/x", null],
    ["/model ", ["", "large", "little"]],
    ["/model li", ["li", "little"]],
    ["/help x", null],
    ["word", null],
    ["", null],
    ["src/", ["src/", "src/util/", "src/main.ts"]],
    ["see src/m", ["src/m", "src/main.ts"]],
    ["./s", ["./s", "./src/"]],
    ["~/s", ["~/s", "~/src/"]],
    ["@main", ["@main", "@zeta/main.c", "@src/main.ts"]],
    ["@src/", ["@src/", "@src/util/", "@src/main.ts", "@src/util/a.ts"]],
    ["@util/a", ["@util/a", "@src/util/a.ts"]],
    ['@"my d', ['@"my d', '@"my dir/"']],
    ["@in", ["@in", '@"my dir/in side.txt"', "@zeta/main.c", "@src/main.ts"]],
    ["@nothing", null],
    ["a@src", null],
  ])("%j", async (text, expected) => {
    expect(await suggest(text)).toEqual(expected);
  });

  test.each<[string, string[] | null]>([
    ["", ["", ".git/", '"my dir/"', "src/", "zeta/", ".env", '"my file.txt"', "README.md"]],
    ["my", ["my", '"my dir/"', '"my file.txt"']],
    ['"my d', ['"my d', '"my dir/"']],
    ['"my dir/', ['"my dir/', '"my dir/in side.txt"']],
    ["x=src/u", ["src/u", "src/util/"]],
    ["READ", ["READ", "README.md"]],
    ["read", ["read", "README.md"]],
    [".", [".", ".git/", ".env"]],
    ["~", ["~", "~/.git/", '"~/my dir/"', "~/src/", "~/zeta/", "~/.env", '"~/my file.txt"', "~/README.md"]],
    ["nope/", null],
  ])("of paths for %j when Tab asks", async (text, expected) => {
    expect(await suggest(text, true)).toEqual(expected);
  });

  test("of paths outside are found from their root and from the folder above", async () => {
    expect(await suggest(`${folder}/s`, true)).toEqual([`${folder}/s`, `${folder}/src/`]);
    const name = folder.slice(folder.lastIndexOf("/") + 1);
    expect(await suggest(`../${name}/s`, true)).toEqual([`../${name}/s`, `../${name}/src/`]);
  });

  test("have no names with control characters", async () => {
    const names = ["odd/plain", "odd/line\nbreak", "odd/\x1b[31mred"];
    await mkdir(join(folder, "odd"));
    try {
      for (const name of names) await writeFile(join(folder, name), "");
      expect(await suggest("odd/", true)).toEqual(["odd/", "odd/plain"]);
      expect(await suggest("@odd/")).toEqual(["@odd/", "@odd/plain"]);
    } finally {
      await rm(join(folder, "odd"), { recursive: true });
    }
  });

  test("are found in a short time, however long the word before the cursor is", async () => {
    const before = process.cpuUsage();
    expect(await suggest(`${"a".repeat(100_000)} @main.c`)).toEqual(["@main.c", "@zeta/main.c"]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000, "milliseconds").toBeLessThan(3_000);
  });

  test("a command shows the hint for its arguments before its description", async () => {
    const result = await provider.getSuggestions(["/mo"], 0, 3, { signal: new AbortController().signal });
    expect(result?.items).toEqual([{ value: "model", label: "model", description: "<name> — Pick a model" }]);
  });

  test("there are none after an abort", async () => {
    expect(await suggest("@main", false, AbortSignal.abort())).toBeNull();
    const abort = new AbortController();
    const pending = suggest("src/", true, abort.signal);
    abort.abort();
    expect(await pending).toBeNull();
  });
});

describe("a suggestion that is taken", () => {
  test.each<[string, string, string, string, string]>([
    ["/he|", "help", "help", "/he", "/help |"],
    ["/tm|", "/tmp/", "tmp/", "/tm", "/tmp/|"],
    ["/model l|", "large", "large", "l", "/model large|"],
    ["src/m|", "src/main.ts", "main.ts", "src/m", "src/main.ts|"],
    ["@m| x", "@main.ts", "main.ts", "@m", "@main.ts | x"],
    ["@s|", "@src/", "src/", "@s", "@src/|"],
    ['"my d|', '"my dir/"', "my dir/", '"my d', '"my dir/|"'],
    ['"my d|"', '"my dir/"', "my dir/", '"my d', '"my dir/|"'],
    ['@"my|', '@"my file.txt"', "my file.txt", '@"my', '@"my file.txt" |'],
  ])("%s + %s", (text, value, label, prefix, expected) => {
    const col = text.indexOf("|");
    const line = text.replace("|", "");
    const { lines, cursorLine, cursorCol } = provider.applyCompletion([line], 0, col, { value, label }, prefix);
    const result = lines[cursorLine] ?? "";
    expect(`${result.slice(0, cursorCol)}|${result.slice(cursorCol)}`).toBe(expected);
  });

  test.each([
    ["/he", false],
    [" /he", false],
    ["/help x", true],
    ["word", true],
  ])("Tab after %j asks for paths: %s", (line, expected) => {
    expect(provider.shouldTriggerFileCompletion([line], 0, line.length)).toBe(expected);
  });
});
