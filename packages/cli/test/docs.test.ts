/** README.md and docs/*.md are true about the program: commands, exit codes, the lines of JSON mode; and their links lead somewhere. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { listCommandsHere } from "@tau/protocol/surface";
import { expect, test } from "vitest";
import { parseSessionArgs } from "../src/start/args.ts";
import { commands } from "../src/commands/index.ts";
import { parseCommandArgs, parseUsages } from "../src/commands/usage.ts";
import { exitCodes } from "../src/process/exit-codes.ts";
import { keybindingDefinitions } from "../src/interactive/keybindings.ts";
import { terminalCommands } from "../src/interactive/slash-commands.ts";
import { pages as pageTable } from "../src/commands/pages.ts";
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

/** Names the anchors of headings as GitHub does. */
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

/** The pages without the list of them. */
const topics = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .map((name) => name.slice(0, -".md".length));

test("every page is a topic of tau help", () => {
  expect(pageTable.map(({ name }) => name).toSorted()).toEqual(topics.toSorted());
});

test.each([
  ["README.md", "docs/"],
  ["docs/README.md", ""],
])("%s lists every page with what it is about", (path, prefix) => {
  const rows = [...read(path).matchAll(/^\| \[([\w-]+)\.md\]\(([^)]*)\) +\| (.*?) +\|$/gm)];
  expect(rows.map(([, name, link, summary]) => ({ name, link, summary }))).toEqual(
    pageTable.map(({ name, summary }) => ({ name, link: `${prefix}${name}.md`, summary })),
  );
});

test("docs/decisions/README.md lists every file of decisions", () => {
  const rows = [...read("docs/decisions/README.md").matchAll(/^\| \[([\w-]+\.md)\]\(\1\) +\|/gm)].map(
    ([, name]) => name!,
  );
  const files = readdirSync(join(root, "docs/decisions")).filter((name) => name !== "README.md");
  expect(rows.toSorted()).toEqual(files.toSorted());
});

test.each(listPages("docs"))("%s links only to what is installed with it", (path) => {
  const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const outside = links.filter((link) => link.startsWith("../") || link.startsWith("decisions"));
  expect(outside.filter((link) => !/^\.\.\/(examples\/|CHANGELOG\.md$)/.test(link))).toEqual([]);
});

test("docs/keybindings.md has every action with its keys", () => {
  const rows = [...read("docs/keybindings.md").matchAll(/^\| `([\w.]+)` +\| *(.*?) *\| (.*?) +\|$/gm)];
  const expected = Object.entries(keybindingDefinitions).map(([id, { defaultKeys, description }]) => [
    id,
    [defaultKeys]
      .flat()
      .map((key) => `\`${key}\``)
      .join(", "),
    description,
  ]);
  expect(rows.map((row) => row.slice(1)).toSorted()).toEqual(expected.toSorted());
});

test("docs/terminal.md has every command of the terminal", () => {
  const rows = [...read("docs/terminal.md").matchAll(/^\| `\/([\w-]+)(?: \[(\w+)\])?` +\| (.*?) +\|$/gm)];
  expect(rows.map(([, name, argument, description]) => ({ name, argument, description }))).toEqual(
    listCommandsHere(terminalCommands).map(({ name, argument, description }) => ({ name, argument, description })),
  );
});

/** The first block of Markdown of a page. */
const readExample = (path: string): string => /```md\n([\s\S]*?)```/.exec(read(path))![1]!;

test("the skill of docs/skills.md and the template of docs/templates.md work as the pages say", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  const skill = join(workspace.agentDir, "skills", "release");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), readExample("docs/skills.md"));
  mkdirSync(join(workspace.agentDir, "prompts"));
  writeFileSync(join(workspace.agentDir, "prompts", "review.md"), readExample("docs/templates.md"));
  expect(await run(workspace, ["-p", "/skill:release 1.2.0"])).toMatchObject({ code: exitCodes.done, err: "" });
  expect(await run(workspace, ["-p", "/review src/main.ts"])).toMatchObject({ code: exitCodes.done, err: "" });
  const [first, second] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).toContain("How to release a new version of this project.");
  expect(first).toContain("Move what is below");
  expect(second).toContain("Review src/main.ts for mistakes.");
});

/** Why the parser refuses a command line; undefined if it accepts it. */
function findError(line: string): string | undefined {
  const args = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  );
  const rest = args[0] === "-C" ? args.slice(2) : args;
  const command = commands.find(({ name }) => name === rest[0]);
  const parsed = command ? parseCommandArgs(parseUsages(command), rest.slice(1)) : parseSessionArgs(args);
  // No extension is loaded here.
  const unknown = "options" in parsed && "unknownFlags" in parsed.options ? parsed.options.unknownFlags : undefined;
  if (unknown) return `${line}: there is no option ${unknown.names.join(" ")}`;
  return parsed.kind === "invalid" ? `${line}: ${parsed.message}` : undefined;
}

/**
 * Extracts what follows `tau` in a line of a shell: without comments, pipes and files; of `[--all]` and `a|b`, with the
 * first choice.
 */
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
  expect(lines.flatMap((line) => findError(toArguments(line)) ?? [])).toEqual([]);
});

/** Commands of other programs, and how to write any command. */
const notOurs = ["tau login", "tau <command>", "tau [options] [@file ...] [message ...]"];

test.each(guides)("every command and flag that the text of %s mentions exists", (path) => {
  const mentioned = [...read(path).matchAll(/`((?:\.\/)?tau [^`]*)`/g)].map(([, code]) => code!.replace(/\s+/g, " "));
  const mistakes = mentioned
    .filter((code) => !notOurs.includes(code))
    .flatMap((code) => findError(toArguments(code)) ?? [])
    // The text may mention a command without its arguments.
    .filter((mistake) => !/ is missing| needs a value|: name a subcommand/.test(mistake));
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
