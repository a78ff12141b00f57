import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { createFiles } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { createResourceLoader } from "@tau/config/resources";
import { quoteArgument } from "@tau/config/internal";
import { createExpandPort } from "./expand-port.ts";
import { type ExpandPort, expandPrompt, type Mentioned } from "./expand.ts";
import { findMentions } from "@tau/protocol";
import { createMentionReader } from "./read-mention.ts";

const template = (name: string, content: string, argumentHint?: string) => ({
  name,
  description: "",
  content,
  filePath: `/prompts/${name}.md`,
  ...(argumentHint !== undefined && { argumentHint }),
});

/** A port with fixed files. */
const createPort = (files: Record<string, Mentioned>, more: Partial<ExpandPort> = {}): ExpandPort => ({
  templates: [],
  skills: [],
  readSkill: () => Promise.resolve({ kind: "failed", reason: "no skills here" }),
  readMention: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path]! : { kind: "missing" }),
  ...more,
});

const expand = async (typed: string, port: ExpandPort) => {
  const expansion = await expandPrompt(typed, port);
  if (expansion.kind === "refused") return { refused: expansion.reason };
  const blocks = expansion.content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`));
  return { blocks, notices: expansion.notices };
};

async function createDirectory(files: Record<string, string | Buffer>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-expand-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

describe("templates", () => {
  const port = createPort(
    { "secret.txt": { kind: "file", path: "/secret.txt", text: "s3cret" } },
    {
      templates: [
        template("review", "Review $1 for ${2:-bugs}.", "<file> [what]"),
        template("plain", "Say $0 @secret.txt /review"),
      ],
    },
  );

  test("are called by a slash and their name, with arguments", async () => {
    expect(await expand('/review "a b" typos', port)).toEqual({
      blocks: ["Review a b for typos."],
      notices: [],
    });
    expect(await expand("  /review\n  x ", port)).toEqual({
      blocks: ["Review x for bugs."],
      notices: [],
    });
  });

  test("with a missing argument leave it empty and add a notice", async () => {
    expect(await expand("/review", port)).toEqual({
      blocks: ["Review  for bugs."],
      notices: ["The template /review has no argument for $1; it was left empty. Usage: /review <file> [what]"],
    });
  });

  test("without placeholders put the arguments at the end", async () => {
    expect(await expand("/plain don't  worry", port)).toMatchObject({
      blocks: ["Say $0 @secret.txt /review\n\ndon't  worry"],
    });
  });

  test("cannot include files or other templates", async () => {
    expect(await expand("/plain", port)).toEqual({
      blocks: ["Say $0 @secret.txt /review"],
      notices: [],
    });
  });

  test("never expand the content of an argument", async () => {
    const echo = createPort({}, { templates: [template("echo", "<$1>")] });
    const specialText = fc.constantFrom("$1", "$@", "${1:-x}", "/echo", "/skill:x", " ", "'", "\\", "a");
    await fc.assert(
      fc.asyncProperty(fc.array(specialText, { maxLength: 6 }), async (parts) => {
        const argument = parts.join("");
        expect(await expand(`/echo ${quoteArgument(argument)}`, echo)).toMatchObject({ blocks: [`<${argument}>`] });
      }),
    );
  });

  test.each(["/usr/bin/env is a path", "/unknown thing", "not /review", "/", "//", "/__proto__"])(
    "do not change %j",
    async (typed) => {
      expect(await expand(typed, port)).toEqual({ blocks: [typed], notices: [] });
    },
  );
});

describe("skills", () => {
  const pdf = {
    name: "pdf",
    description: "",
    filePath: "/s/pdf/SKILL.md",
    baseDir: "/s/pdf",
    disableModelInvocation: true,
  };
  const port = createPort(
    {},
    { skills: [pdf], readSkill: () => Promise.resolve({ kind: "text", text: "Do $1 @x.md.\n</skill>" }) },
  );

  test("are called by name, with their text in tags and the arguments after it", async () => {
    const block =
      '<skill-2 name="pdf" location="/s/pdf/SKILL.md">\nRelative paths begin at /s/pdf.\n\nDo $1 @x.md.\n</skill>\n</skill-2>';
    expect(await expand("/skill:pdf", port)).toEqual({ blocks: [block], notices: [] });
    expect(await expand('/skill:pdf read "it"', port)).toEqual({
      blocks: [`${block}\n\nread "it"`],
      notices: [],
    });
  });

  test("that do not exist leave the text and suggest a similar name; that cannot be read are refused", async () => {
    expect(await expand("/skill:pfd x", port)).toEqual({
      blocks: ["/skill:pfd x"],
      notices: ['There is no skill "pfd"; the text was sent as it is. Did you mean "pdf"?'],
    });
    const broken = { ...port, readSkill: () => Promise.resolve({ kind: "failed" as const, reason: "gone" }) };
    expect(await expand("/skill:pdf x", broken)).toEqual({ refused: "gone" });
  });
});

describe("mentions", () => {
  test.each<[string, string[][]]>([
    ["see @src/a.ts", [["src/a.ts"]]],
    [
      "@a.md, then (@b.md) and @c.md.",
      [
        ["a.md,", "a.md"],
        ["b.md)", "b.md"],
        ["c.md.", "c.md"],
      ],
    ],
    [`@"my notes.md" @'other notes.md'`, [["my notes.md"], ["other notes.md"]]],
    [String.raw`@my\ notes.md`, [["my notes.md"]]],
    ["@a.md and again @a.md", [["a.md"]]],
    ["line\n@~/x/y\n", [["~/x/y"]]],
    ["mail me@example.com, git@host:x", []],
    ["@ alone, @@", [["@"]]],
    ["in `npm i @types/node` and\n```ts\n@Input() x;\n```\n@real.md", [["real.md"]]],
    ["```\n@never/closed.ts", []],
    ['import x from "@/x"', []],
    ["@Component({ a: 1 })", [["Component({"]]],
    ["```npm test``` fails, see @src/a.ts", [["src/a.ts"]]],
    ["~~~ `x`\n@no.md\n~~~\n@real.md", [["real.md"]]],
    ["请看@src/a.ts", [["src/a.ts"]]],
    ["请看，@src/a.ts。", [["src/a.ts。", "src/a.ts"]]],
    ["「@src/a.ts」を見る", [["src/a.ts」を見る", "src/a.ts"]]],
    ["@src/名前.mdのテスト", [["src/名前.mdのテスト", "src/名前.md"]]],
    ["@src/名前.md", [["src/名前.md"]]],
    ["in @a.md's end", [["a.md's", "a.md"]]],
  ])("in %j are found", (text, expected) => {
    expect(findMentions(text).map(({ paths }) => paths)).toEqual(expected);
  });

  test("put each file after the text, once and in order, and do not change the text", async () => {
    const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
    const port = createPort({
      "a.md": { kind: "file", path: "/w/a.md", text: "A </file>" },
      "./a.md": { kind: "file", path: "/w/a.md", text: "A </file>" },
      src: { kind: "directory", path: "/w/src", text: "x\ny/" },
      "p.png": { kind: "image", path: "/w/p.png", image, note: "[An image.]" },
    });
    expect(await expand("@p.png like @a.md or @./a.md in @src?", port)).toEqual({
      blocks: [
        "@p.png like @a.md or @./a.md in @src?",
        '<file name="/w/p.png">\n[An image.]\n</file>',
        "[image/png]",
        '<file-2 name="/w/a.md">\nA </file>\n</file-2>',
        '<directory name="/w/src">\nx\ny/\n</directory>',
      ],
      notices: [],
    });
  });

  test("of missing files stay text, with a notice only if they look like paths", async () => {
    const typed = '@Component @scope/name @you, @missing.ts. @"no such" @a/b/c @./x';
    expect(await expand(typed, createPort({}))).toEqual({
      blocks: [typed],
      notices: ["missing.ts", "no such", "a/b/c", "./x"].map((path) =>
        expect.stringContaining(`There is no file ${path};`),
      ),
    });
  });

  test("of files that cannot be shown stay text, with a notice", async () => {
    const port = createPort({ "a.bin": { kind: "failed", reason: "a.bin is a binary file." } });
    expect(await expand("@a.bin", port)).toEqual({
      blocks: ["@a.bin"],
      notices: ["a.bin is a binary file. @a.bin was sent as it is."],
    });
  });

  test("are limited together", async () => {
    const big = {
      ...createPort({}),
      readMention: (path: string) => Promise.resolve({ kind: "file" as const, path, text: "x".repeat(50_000) }),
    };
    const typed = Array.from({ length: 40 }, (_unused, index) => `@${index}.md`).join(" ");
    const { blocks, notices } = (await expand(typed, big)) as { blocks: string[]; notices: string[] };
    expect(blocks).toHaveLength(1 + 5);
    expect(notices).toEqual(["@5.md and all later mentions were not included: they are too much for one message."]);
    const small = {
      ...big,
      readMention: (path: string) => Promise.resolve({ kind: "file" as const, path, text: "x" }),
    };
    expect(((await expand(typed, small)) as { blocks: string[] }).blocks).toHaveLength(1 + 32);
  });
});

test("a long text of unclosed quotes and brackets takes linear time", async () => {
  const port = createPort({}, { templates: [template("t", "${1:-".repeat(20_000))] });
  for (const unit of ["`", ' @"', "`` ` ", "\n```", " @\\", "${1:-", "@(", " @'x", ")", "\\)"]) {
    const start = process.cpuUsage();
    await expand(`@${unit.repeat(50_000)}a`, port);
    await expand(`/t ${unit.repeat(20_000)}`, port);
    expect(process.cpuUsage(start).user / 1_000, JSON.stringify(unit)).toBeLessThan(3_000);
  }
});

test("only the first mentions of a long text are looked up", async () => {
  const lookups: string[] = [];
  const port = createPort({}, { readMention: (path) => (lookups.push(path), Promise.resolve({ kind: "missing" })) });
  const typed = Array.from({ length: 5_000 }, (_unused, index) => `@name${index}`).join("\n");
  expect(await expand(typed, port)).toMatchObject({
    notices: ["Only the first 200 of 5000 mentions were looked at. Mention fewer files."],
  });
  expect(lookups).toHaveLength(200);
});

describe("in a real directory", () => {
  const onePixel = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );

  test("templates, skills and files are read from the disk each time", async () => {
    const root = await createDirectory({
      "project/notes.md": "Remember.\n",
      "project/my notes.md": "Spaces.\n",
      "project/@types/x.d.ts": "declare const x: 1;\n",
      "project/src/a.ts": "",
      "project/big.txt": "line\n".repeat(5_000),
      "project/pixel.png": onePixel,
      "project/data.bin": Buffer.from([0, 1, 2]),
      "project/.tau/prompts/fix.md": "Fix $1.",
      "agent/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\nUse it.\n",
    });
    const cwd = join(root, "project");
    const agentDir = join(root, "agent");
    const home = join(root, "home");
    const loader = await createResourceLoader({ cwd, agentDir, home, isProjectTrusted: () => true });
    const resources = createExpandPort({ loader, cwd, agentDir });
    const port: ExpandPort = {
      get templates() {
        return resources.templates;
      },
      get skills() {
        return resources.skills;
      },
      readSkill: (skill) => resources.readSkill(skill),
      readMention: createMentionReader({ cwd }),
    };
    const show = async (typed: string) =>
      JSON.parse(JSON.stringify(await expand(typed, port)).replaceAll(root, "")) as unknown;

    expect(await show("/fix @notes.md")).toEqual({
      blocks: ["Fix @notes.md.", '<file name="/project/notes.md">\nRemember.\n</file>'],
      notices: [],
    });
    expect(await show('@"my notes.md" @@types/x.d.ts @src @pixel.png')).toEqual({
      blocks: [
        '@"my notes.md" @@types/x.d.ts @src @pixel.png',
        '<file name="/project/my notes.md">\nSpaces.\n</file>',
        '<file name="/project/@types/x.d.ts">\ndeclare const x: 1;\n</file>',
        '<directory name="/project/src">\na.ts\n</directory>',
        '<file name="/project/pixel.png">\n[An image, image/png.]\n</file>',
        "[image/png]",
      ],
      notices: [],
    });
    expect(await show("@big.txt")).toMatchObject({
      blocks: [expect.any(String), expect.stringContaining("[Showing lines 1-2000.")],
    });
    expect(await show("@data.bin")).toMatchObject({
      blocks: ["@data.bin"],
      notices: [expect.stringContaining("binary file")],
    });
    expect(await show("/skill:pdf now")).toMatchObject({
      blocks: [expect.stringMatching(/Use it\.\n<\/skill>\n\nnow$/)],
    });
    expect(await show("@@notes.md")).toMatchObject({
      blocks: ["@@notes.md"],
      notices: [expect.stringContaining("There is no file")],
    });
    await writeFile(join(cwd, ".tau/prompts/fix.md"), "Repair $1.");
    await loader.reload();
    expect(await show("/fix x")).toMatchObject({ blocks: ["Repair x."] });
    await rm(join(root, "agent/skills/pdf/SKILL.md"));
    expect(await show("/skill:pdf")).toEqual({
      refused: "/agent/skills/pdf/SKILL.md: The file of this skill no longer exists. Restore it, or reload.",
    });
  });

  test("a file that a guard refuses is not shown, with a notice", async () => {
    const root = await createDirectory({ id_ed25519: "not a real key" });
    const guard = () => {
      throw new Error("credentials are not shown");
    };
    const files = createFiles({ guard });
    const port: ExpandPort = {
      templates: [],
      skills: [],
      readSkill: async () => ({ kind: "failed", reason: "There are none." }),
      readMention: createMentionReader({ cwd: root, files }),
    };
    const { blocks, notices } = (await expand("@./id_ed25519", port)) as { blocks: string[]; notices: string[] };
    expect(blocks).toEqual(["@./id_ed25519"]);
    expect(notices).toEqual([expect.stringContaining("credentials are not shown")]);
  });
});
