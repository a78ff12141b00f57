import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.ts";

async function directory(files: Record<string, string | Buffer>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-templates-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

const load = async (root: string, directories = [""], lastGood?: ReadonlyMap<string, PromptTemplate>) => {
  const request = { fileSystem: nodeFileSystem, roots: directories.map((one) => join(root, one)) };
  const { value, problems } = await loadPromptTemplates({ ...request, ...(lastGood && { lastGood }) });
  return { templates: value, problems: problems.map((problem) => formatFileProblem(problem).replaceAll(root, "")) };
};

test("a Markdown file is a template with the name of the file; files in subdirectories and other files are not", async () => {
  const root = await directory({
    "review.md": '---\ndescription: Review it\nargument-hint: "[focus]"\n---\n\nReview $1.\n',
    "plain.md": `\n\n${"Long ".repeat(30)}\nSecond.`,
    "rule.md": "---\nA rule, no front matter.",
    "hint.md": "---\nargument-hint: [focus]\n---\nx",
    "notes.txt": "no template",
    "deeper/inner.md": "no template",
    "directory.md/x": "",
  });
  await symlink(join(root, "nowhere"), join(root, "broken.md"));
  const { templates, problems } = await load(root);
  expect(problems).toEqual([]);
  expect(templates.map(({ name, description, argumentHint }) => [name, description, argumentHint])).toEqual([
    ["hint", "x", "[focus]"],
    ["plain", `${"Long ".repeat(16)}…`, undefined],
    ["review", "Review it", "[focus]"],
    ["rule", "---", undefined],
  ]);
  expect(templates[2]).toMatchObject({ content: "Review $1.", filePath: join(root, "review.md") });
});

test("a template that cannot be used is reported with its line, and the others keep working", async () => {
  const root = await directory({
    "a b.md": "x",
    "bad.md": '---\nok: 1\ndescription: "open\n---\nx',
    "binary.md": Buffer.from([0, 1]),
    "odd.md": "---\ndescription:\n  a: 1\n---\nFirst line",
    "good.md": "good",
  });
  const { templates, problems } = await load(root);
  expect(templates.map(({ name, description }) => [name, description])).toEqual([
    ["good", "good"],
    ["odd", "First line"],
  ]);
  expect(problems).toEqual([
    "/a b.md: The name of this file cannot be a command. Use a name without spaces.",
    expect.stringMatching(/^\/bad\.md:\d: This is not valid YAML: /),
    "/binary.md: This is not UTF-8 text. Save it as UTF-8, or remove it.",
    "/odd.md:2: `description` has to be a string. Put it in quotes.",
  ]);
});

test("of two templates with the same name the first directory's has precedence; a damaged one keeps its last valid state", async () => {
  const root = await directory({ "own/a.md": "mine", "project/a.md": "theirs", "project/b.md": "b" });
  const { templates, problems } = await load(root, ["own", "project", "missing"]);
  expect(templates.map(({ content }) => content)).toEqual(["mine", "b"]);
  expect(problems).toEqual([
    "/project/a.md: The template /a is ignored: /own/a.md has the same name and has precedence. Rename one of them.",
  ]);
  await writeFile(join(root, "own/a.md"), Buffer.from([0]));
  const lastGood = new Map(templates.map((one) => [one.filePath, one]));
  expect((await load(root, ["own", "project"], lastGood)).templates).toEqual(templates);
});
