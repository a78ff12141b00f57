/** README.md and docs/*.md are true about the program: commands, exit codes, the lines of JSON mode; and their links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { parseSessionArgs } from "../src/args.ts";
import { commands } from "../src/commands/index.ts";
import { parseCommandArgs, parseUsages } from "../src/commands/usage.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply, toolReply } from "./kit.ts";

const root = resolve(import.meta.dirname, "../../..");
const listPages = (directory: string) =>
  readdirSync(join(root, directory))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(directory, name));
const guides = ["README.md", "packages/cli/README.md", ...listPages("docs")];
const pages = [
  ...listPages("."),
  ...listPages("docs"),
  ...listPages("docs/decisions"),
  ...readdirSync(join(root, "packages"))
    .map((name) => join("packages", name, "README.md"))
    .filter((path) => existsSync(join(root, path))),
];
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** As GitHub names the anchors of headings. */
const listAnchors = (text: string): string[] =>
  [...text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(" ", "-"),
  );

test.each(pages)("every link in %s leads to a file and a heading that exist", (path) => {
  const text = read(path).replaceAll(/```[\s\S]*?```/g, "");
  const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
    if (/^(https?|mailto):/.test(link!)) return [];
    const [file = "", anchor] = link!.split("#");
    const target = file === "" ? path : relative(root, resolve(root, dirname(path), file));
    if (!existsSync(join(root, target))) return [link];
    return anchor === undefined || listAnchors(read(target)).includes(anchor) ? [] : [link];
  });
  expect(broken).toEqual([]);
});

/** Why the parser refuses a command line; undefined if it accepts it. */
function findMistake(line: string): string | undefined {
  const args = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  );
  const rest = args[0] === "-C" ? args.slice(2) : args;
  const command = commands.find(({ name }) => name === rest[0]);
  const parsed = command ? parseCommandArgs(parseUsages(command), rest.slice(1)) : parseSessionArgs(args);
  // No extension is loaded here.
  const unknown = "options" in parsed && "unknownFlags" in parsed.options ? parsed.options.unknownFlags : undefined;
  if (unknown) return `${line}: there is no option ${unknown.names.join(" ")}`;
  return parsed.kind === "mistake" ? `${line}: ${parsed.message}` : undefined;
}

/** What follows `tau` in a line of a shell: without comments, pipes and files; of `[--all]` and `a|b`, with the first choice. */
const toArguments = (line: string): string =>
  line
    .replace(/^.*?(?:\.\/)?\btau /, "")
    .replace(/ {2,}.*| # .*/, "")
    .replaceAll(/[[\]]|\.\.\./g, "")
    .replaceAll(/([a-z])(\|[a-z]+)+/g, "$1")
    .replace(/ [|<>].*/, "");

test.each(guides)("every command line in the blocks of %s is accepted", (path) => {
  const blocks = [...read(path).matchAll(/```(?:sh)?\n([\s\S]*?)```/g)].map(([, block]) => block!);
  const lines = blocks.flatMap((block) => block.split("\n")).filter((line) => /(^|\| )(\.\/)?tau /.test(line));
  expect(lines.flatMap((line) => findMistake(toArguments(line)) ?? [])).toEqual([]);
});

/** Commands of other programs, and how to write any command. */
const notOurs = ["tau login", "tau <command>", "tau [options] [@file ...] [message ...]"];

test.each(guides)("every command and flag that the text of %s mentions exists", (path) => {
  const mentioned = [...read(path).matchAll(/`((?:\.\/)?tau [^`]*)`/g)].map(([, code]) => code!.replace(/\s+/g, " "));
  const mistakes = mentioned
    .filter((code) => !notOurs.includes(code))
    .flatMap((code) => findMistake(toArguments(code)) ?? [])
    // The text may mention a command without its arguments.
    .filter((mistake) => !/ is missing| needs a value/.test(mistake));
  expect(mistakes).toEqual([]);
});

test("the exit codes of docs/cli.md are those of tau help exit-codes", async () => {
  const rows = [...read("docs/cli.md").matchAll(/^\| (\d+(?:, \d+)*) +\| (.*?) +\|$/gm)].map(([, code, text]) => [
    code!,
    text!,
  ]);
  // After some signals the process ends with 128 and their number.
  expect(rows.map(([code]) => code)).toEqual([...Object.values(exitCodes).map(String), "129, 143"]);
  const { out } = await run(await createWorkspace(), ["help", "exit-codes"]);
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/)),
  ).toEqual(rows);
});

/** The fields of a table: those that may be missing end in `?`. */
const readFields = (cell: string): string[] =>
  [
    ...cell
      .replaceAll(/ \([^)]*\)/g, "")
      .split(": ")[0]!
      .matchAll(/`(\w+\??)`/g),
  ].map(([, name]) => name!);

test("the lines of JSON mode have the fields that docs/json.md lists", async () => {
  const workspace = await createModelWorkspace([
    toolReply("bash", { command: "echo hello" }),
    toolReply("read", { path: "/etc/shadow" }),
    textReply("Done."),
    { kind: "status", status: 401 },
  ]);
  const page = read("docs/json.md");
  const section = (heading: string) => page.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
  const fields = new Map(
    [...section("Events").matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)].map(([, type, cell]) => [type!, readFields(cell!)]),
  );
  const listNames = (heading: string) =>
    [...section(heading).matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell]) => readFields(cell!));
  const lines = [
    ...(await run(workspace, ["--mode", "json", "Look."])).out.split("\n"),
    ...(await run(workspace, ["--mode", "json", "Look."])).out.split("\n"),
  ].flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  expect(new Set(lines.map(({ type }) => type))).toContain("tool_denied");
  for (const { type, ...line } of lines) {
    const names = Object.keys(line);
    if (type === "session" || type === "result") {
      const listed = listNames(type === "session" ? "The first line" : "The result");
      for (const name of names) expect(listed).toContain(name);
      continue;
    }
    const listed = fields.get(String(type)) ?? [];
    const required = listed.filter((name) => !name.endsWith("?"));
    expect({ type, names: names.filter((name) => !listed.includes(name) && !listed.includes(`${name}?`)) }).toEqual({
      type,
      names: [],
    });
    expect({ type, missing: required.filter((name) => !names.includes(name)) }).toEqual({ type, missing: [] });
  }
});
