import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatSkillsForPrompt } from "./format-skills.ts";
import { parseFrontmatter, stripFrontmatter } from "./frontmatter.ts";
import { loadSkills, loadSkillsFromDir } from "./load-skills.ts";
import { parseSkillBlock } from "./skill-block.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-skills-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(path: string, text: string): string {
  const full = join(directory, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}
const skill = (name: string, description = "Does things.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\nBody`;
const load = (dir = directory) => loadSkillsFromDir({ dir, source: "test" });

describe("skills", () => {
  test("a directory with SKILL.md is one skill, others are searched", () => {
    put("calendar/SKILL.md", skill("calendar"));
    put("calendar/nested/SKILL.md", skill("nested"));
    put("deep/er/SKILL.md", skill("er"));
    put("deep/notes.md", skill("notes"));
    put("single.md", skill("single"));
    put("node_modules/x/SKILL.md", skill("x"));
    expect(load().skills.map(({ name }) => name)).toEqual(["calendar", "er", "single"]);
    expect(load(join(directory, "calendar")).skills).toMatchObject([{ name: "calendar", source: "test" }]);
  });

  test("mistakes are reported; only a skill without a description is left out", () => {
    put("a/SKILL.md", skill("other-name"));
    put("Bad_Name/SKILL.md", skill("Bad_Name"));
    put("two--hyphens/SKILL.md", skill("two--hyphens"));
    put("none/SKILL.md", "---\nname: none\n---\n");
    put("yaml/SKILL.md", "---\nname: [\n---\n");
    const { skills, diagnostics } = load();
    expect(skills.map(({ name }) => name)).toEqual(["Bad_Name", "other-name", "two--hyphens"]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "name contains invalid characters (must be lowercase a-z, 0-9, hyphens only)",
      'name "other-name" does not match parent directory "a"',
      "description is required",
      "name must not contain consecutive hyphens",
      expect.stringContaining("sequence"),
    ]);
  });

  test("links that lead nowhere or in a circle are left out", () => {
    put("a/SKILL.md", skill("a"));
    put("deep/b/SKILL.md", skill("b"));
    symlinkSync("..", join(directory, "deep/up"));
    symlinkSync(".", join(directory, "here"));
    symlinkSync("itself", join(directory, "itself"));
    symlinkSync("nowhere", join(directory, "dangling"));
    mkdirSync(join(directory, ".gitignore"));
    expect(load().skills.map(({ name }) => name)).toEqual(["a", "b"]);
    const { skills, diagnostics } = loadSkills({ skillPaths: [join(directory, "itself")], includeDefaults: false });
    expect(skills).toEqual([]);
    expect(diagnostics).toMatchObject([{ message: expect.stringContaining("ELOOP") }]);
  });

  test("ignore files leave skills out", () => {
    put(".gitignore", "venv\n*.tmp.md\nkeep/*\n!keep/this\n");
    put("venv/SKILL.md", skill("venv"));
    put("draft.tmp.md", skill("draft"));
    put("keep/that/SKILL.md", skill("that"));
    put("keep/this/SKILL.md", skill("this"));
    expect(load().skills.map(({ name }) => name)).toEqual(["this"]);
  });

  test("the first of two skills with a name counts, and a link to it is no collision", () => {
    put("agent/skills/same/SKILL.md", skill("same", "user"));
    put("project/.pi/skills/same/SKILL.md", skill("same", "project"));
    symlinkSync(join(directory, "agent/skills"), join(directory, "link"));
    const { skills, diagnostics } = loadSkills({
      cwd: join(directory, "project"),
      agentDir: join(directory, "agent"),
      skillPaths: [join(directory, "link"), "missing"],
    });
    expect(skills).toMatchObject([{ name: "same", description: "user", source: "user" }]);
    expect(diagnostics).toMatchObject([
      { message: "skill path does not exist" },
      { type: "collision", collision: { resourceType: "skill", name: "same" } },
    ]);
    expect(loadSkills({ cwd: directory, agentDir: directory, includeDefaults: false }).skills).toEqual([]);
  });

  test("the prompt lists skills that a model may use, escaped", () => {
    put("a/SKILL.md", skill("a", "Reads <files> & more"));
    put("b/SKILL.md", "---\nname: b\ndescription: hidden\ndisable-model-invocation: true\n---\n");
    const text = formatSkillsForPrompt(load().skills);
    expect(text).toContain("<description>Reads &lt;files&gt; &amp; more</description>");
    expect(text).not.toContain("hidden");
    expect(formatSkillsForPrompt([])).toBe("");
  });
});

describe("front matter", () => {
  test("is parsed, and the body is trimmed", () => {
    expect(parseFrontmatter("---\r\nname: a\r\nlist: [1, 2]\r\n---\r\n\r\nBody\r\ntext")).toEqual({
      frontmatter: { name: "a", list: [1, 2] },
      body: "Body\ntext",
    });
    expect(parseFrontmatter("---\n---\nBody")).toEqual({ frontmatter: {}, body: "Body" });
    expect(() => parseFrontmatter("---\na: [\n---\n")).toThrow("sequence");
    expect(() => parseFrontmatter("---\nfirst: 1\nsecond: {a\n---\n")).toThrow("line 2, column");
  });

  test("a text without a head is all body", () => {
    for (const text of ["just text", "---\nunfinished: yes", "text\n---\nmore"]) {
      expect(parseFrontmatter(text)).toEqual({ frontmatter: {}, body: text });
    }
    expect(stripFrontmatter("---\nkey: value\n---\n\nBody\n")).toBe("Body");
  });
});

test("a skill in a message is found with what the person wrote after it", () => {
  const text = '<skill name="a" location="/a/SKILL.md">\nDo it.\n</skill>';
  expect(parseSkillBlock(`${text}\n\nwith care`)).toEqual({
    name: "a",
    location: "/a/SKILL.md",
    content: "Do it.",
    userMessage: "with care",
  });
  expect(parseSkillBlock(text)).toMatchObject({ userMessage: undefined });
  expect(parseSkillBlock("hello")).toBeNull();
});
