import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtInThemes, parseTheme } from "@tau/tui";
import { expect, onTestFinished, test } from "vitest";
import { loadThemes, type ThemePlaces } from "./load-themes.ts";

const createTheme = (name: string, colors: object = {}) =>
  JSON.stringify({ ...builtInThemes[0], name, colors: { ...builtInThemes[0]?.colors, ...colors } });

/** Writes themes by their paths, and loads those that count. */
async function load(texts: Record<string, string>, places: Partial<ThemePlaces> = {}) {
  const root = await mkdtemp(join(tmpdir(), "tau-themes-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const toPaths = (paths: readonly string[] = []) => paths.map((path) => path.replace("ROOT", root));
  const { files, problems } = await loadThemes({
    agentDir: join(root, "agent"),
    cwd: join(root, "project"),
    isProjectTrusted: false,
    onlyNamed: false,
    builtIn: builtInThemes.map(({ name }) => name),
    parse: parseTheme,
    ...places,
    listed: toPaths(places.listed),
    named: toPaths(places.named),
    ofPackages: toPaths(places.ofPackages),
  });
  return {
    names: files.map(({ definition }) => definition.name),
    paths: files.map(({ path }) => path.slice(root.length + 1)),
    problems: problems.map((problem) => problem.replaceAll(root, "ROOT")),
  };
}

const everywhere = {
  "agent/themes/mine.json": createTheme("mine"),
  "agent/themes/notes.txt": "not a theme",
  "project/.tau/themes/ours.json": createTheme("ours"),
  "project/.pi/themes/older.json": createTheme("older"),
  "listed/one.json": createTheme("one"),
  "listed/two.json": createTheme("two"),
  "named.json": createTheme("named"),
};

test("a project's themes count only when it is trusted", async () => {
  expect(await load(everywhere)).toMatchObject({ names: ["mine"], problems: [] });
  expect((await load(everywhere, { isProjectTrusted: true })).names).toEqual(["mine", "ours", "older"]);
});

test("listed and named themes are added, and filters leave some out", async () => {
  const listed = ["ROOT/listed", "!two.json", "-ROOT/agent/themes/mine.json"];
  expect((await load(everywhere, { listed, named: ["ROOT/named.json"] })).names).toEqual(["named", "one"]);
});

test("with --no-themes only the named ones count", async () => {
  const places = { listed: ["ROOT/listed"], named: ["ROOT/named.json"], onlyNamed: true, isProjectTrusted: true };
  expect((await load(everywhere, places)).names).toEqual(["named"]);
});

test("a wrong file is told with its key, and the others count", async () => {
  const texts = { ...everywhere, "agent/themes/wrong.json": createTheme("wrong", { accent: "puce!" }) };
  const { names, problems } = await load(texts);
  expect(names).toEqual(["mine"]);
  expect(problems).toEqual([expect.stringMatching(/ROOT\/agent\/themes\/wrong\.json: colors\.accent .* Allowed: /)]);
});

test("a file with many mistakes is one problem", async () => {
  const { problems } = await load({ "agent/themes/empty.json": '{"name":"empty","colors":{}}' });
  expect(problems).toEqual([expect.stringContaining("more problems")]);
});

test("of two themes with one name the first counts, and no file takes the name of a built-in one", async () => {
  const texts = { ...everywhere, "listed/three.json": createTheme("mine"), "listed/four.json": createTheme("dark") };
  const { paths, problems } = await load(texts, { listed: ["ROOT/listed"] });
  expect(paths).toContain("agent/themes/mine.json");
  expect(problems).toEqual([
    'ROOT/listed/four.json is not used: there is another theme "dark", the built-in one.',
    'ROOT/listed/three.json is not used: there is another theme "mine", ROOT/agent/themes/mine.json.',
  ]);
});

test("a named path that is not there is told", async () => {
  expect((await load({}, { named: ["ROOT/no.json"] })).problems).toEqual(["There is no theme ROOT/no.json."]);
});

test("themes of packages count after all others, and settings can leave them out", async () => {
  const texts = {
    "agent/themes/mine.json": createTheme("mine"),
    "pack/a.json": createTheme("a"),
    "pack/m.json": createTheme("mine"),
  };
  const ofPackages = ["ROOT/pack/a.json", "ROOT/pack/m.json"];
  const { names, problems } = await load(texts, { ofPackages });
  expect(names).toEqual(["mine", "a"]);
  expect(problems).toHaveLength(1);
  expect((await load(texts, { ofPackages, listed: ["!a.json"] })).names).toEqual(["mine"]);
});
