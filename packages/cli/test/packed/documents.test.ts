/** The documents of an installation: `tau help TOPIC` shows them, and models answer from them. */
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { pages } from "../../src/commands/pages.ts";
import { createModelWorkspace, createWorkspace, textReply, toolReply } from "../kit.ts";
import { installed, runPacked } from "./kit.ts";
import { openPty } from "./pty.ts";

const findDocs = async () => join(await realpath(await installed()), "dist", "docs");
const ours = join(import.meta.dirname, "../../../../docs");

test("every page and every picture is installed, and every link leads to an installed file", async () => {
  const docs = await findDocs();
  const files = (await readdir(docs, { recursive: true })).filter((name) => /\.\w+$/.test(name));
  expect(files).toEqual(expect.arrayContaining(["README.md", ...pages.map(({ name }) => `${name}.md`)]));
  expect(files.some((name) => name.startsWith("decisions"))).toBe(false);
  const broken = files
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => {
      const text = readFileSync(join(docs, name), "utf8").replaceAll(/```[\s\S]*?```/g, "");
      return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^(https?|mailto):/.test(link) && !existsSync(resolve(dirname(join(docs, name)), link)));
    });
  expect(broken).toEqual([]);
});

test("in a pipe, help prints a page as it is, after the usage of a command with its name", async () => {
  const workspace = await createWorkspace();
  const page = await readFile(join(ours, "first-hour.md"), "utf8");
  expect(await runPacked(workspace, ["help", "first-hour"])).toMatchObject({
    code: exitCodes.done,
    out: page,
    err: "",
  });
  const { out } = await runPacked(workspace, ["help", "gateway"]);
  expect(out).toMatch(/^tau gateway: /);
  expect(out.endsWith(`\n${await readFile(join(ours, "gateway.md"), "utf8")}`)).toBe(true);
  expect(await runPacked(workspace, ["help", "keybinding"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining('Did you mean "keybindings"') as string,
  });
});

test("on a terminal, help draws a page in the pager", async () => {
  const workspace = await createWorkspace();
  const pager = join(workspace.directory, "pager.sh");
  await writeFile(pager, "echo through the pager; cat");
  const pty = await openPty(workspace, { args: ["help", "skills"], columns: 80, env: { PAGER: `sh '${pager}'` } });
  expect(await pty.ended()).toMatchObject({ code: 0 });
  const shown = await pty.everything();
  expect(shown).toContain("through the pager");
  expect(shown).toContain("Writing one");
  expect(shown).toContain("tau help resources");
  // The marks of Markdown and the addresses of links are not shown.
  expect(shown).not.toMatch(/^## |\]\(|\*\*/m);
});

test.each([
  ["a pager that is not there", { PAGER: "no-such-pager-here" }],
  ["a terminal that prints lines only", { TERM: "dumb", PAGER: "echo never" }],
])("with %s, help prints the page", async (_name, env) => {
  const workspace = await createWorkspace();
  const pty = await openPty(workspace, { args: ["help", "templates"], rows: 60, env });
  expect(await pty.ended()).toMatchObject({ code: 0 });
  const shown = await pty.everything();
  expect(shown).toContain("A template is a request that you use often.");
  expect(shown).not.toContain("never");
});

test("the model is told where the documents are, reads them without a question, and the request stays small", async () => {
  const docs = await findDocs();
  const workspace = await createModelWorkspace([
    toolReply("read", { path: join(docs, "README.md") }),
    toolReply("read", { path: join(docs, "..", "examples", "extensions", "todo-list.ts") }),
    textReply("As first-hour.md says."),
  ]);
  // Nobody can be asked here.
  const { code, out } = await runPacked(workspace, ["-p", "hi"]);
  expect({ code, out }).toEqual({ code: exitCodes.done, out: "As first-hour.md says.\n" });
  const [first, second, third] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(first!.split(docs)).toHaveLength(2);
  // How long the paths are depends on the machine.
  const request = first!.replace(docs, "/docs").replaceAll(workspace.directory, "/project");
  expect(Buffer.byteLength(request)).toBeLessThan(7_500);
  expect(second).toContain("what you know from pi");
  expect(third).toContain("registerTool");
});
