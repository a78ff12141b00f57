/** Flags of the program, and words that look like commands. */
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, temporaryDirectory, textReply } from "./kit.ts";

const lastPrompt = (body: unknown): unknown => (body as { messages: { content: unknown }[] }).messages.at(-1)?.content;

test("several arguments are one prompt", async () => {
  const workspace = await createModelWorkspace([textReply("It builds.")]);
  expect(await run(workspace, ["-p", "what", "", "does", "this", "do"])).toMatchObject({
    code: 0,
    out: "It builds.\n",
  });
  expect(workspace.server.requests).toHaveLength(1);
  expect(JSON.stringify(lastPrompt(workspace.server.requests[0]?.body))).toContain("what does this do");
});

test("of a repeated flag the last counts, and a list takes all", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const flags = ["--model", "nothing", "--model", "acme/large", "--mode", "json", "--mode", "text"];
  const tools = ["--tools", "read", "--tools", "ls,grep"];
  expect(await run(workspace, [...flags, ...tools, "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  const body = workspace.server.requests[0]?.body as { model: string; tools: unknown[] };
  expect([body.model, body.tools.length]).toEqual(["large", 3]);
});

test("-C runs as if tau was started in that directory, also before a command", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const inner = join(workspace.directory, "inner");
  await mkdir(inner);
  await writeFile(join(inner, "AGENTS.md"), "Rules of inner.");
  await writeFile(join(inner, "note.txt"), "A note.");
  expect(await run(workspace, ["-p", "Hi", "@note.txt", "-C", "inner"])).toMatchObject({ code: 0 });
  const sent = JSON.stringify(workspace.server.requests[0]?.body);
  for (const text of ["Rules of inner.", "A note."]) expect(sent).toContain(text);
  const listed = async (...args: string[]) =>
    (JSON.parse((await run(workspace, [...args, "sessions", "list", "--json"])).out) as unknown[]).length;
  expect([await listed("-C", "inner"), await listed()]).toEqual([1, 0]);
  expect(await listed("--directory", "inner")).toBe(1);
  expect(await listed("-C", "gone", "--directory=inner")).toBe(1);
  const hint = await run(workspace, ["-C", "inner", "login"]);
  expect([hint.code, hint.err]).toEqual([exitCodes.usage, expect.stringContaining("tau auth login")]);
  for (const args of [
    ["-C", "gone", "-p", "Hi"],
    ["-C", "gone", "sessions", "list"],
    ["-C", "inner/note.txt", "Hi"],
  ]) {
    const { code, out, err } = await run(workspace, args);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
    expect(err).toContain(`there is no directory ${join(workspace.directory, args[1]!)}`);
  }
});

test("--export writes a session as HTML to the next argument, or to a name made from it", async () => {
  const workspace = await createModelWorkspace([textReply("Forty-two.")]);
  await run(workspace, ["-p", "Hi", "--session-id", "job"]);
  const { directory } = workspace;
  expect(await run(workspace, ["--export", "job", "page.html"])).toMatchObject({ code: 0, out: "" });
  expect(await run(workspace, ["--export", "job"])).toMatchObject({ code: 0, out: "" });
  expect(await run(workspace, ["--export", "job"])).toMatchObject({ code: 0, out: "" });
  // A link that is named like a page must not destroy the file that it leads to.
  await writeFile(join(directory, "notes.txt"), "Mine.");
  await symlink("notes.txt", join(directory, "link.htm"));
  expect(await run(workspace, ["--export", "job", "link.htm"])).toMatchObject({ code: exitCodes.usage });
  expect(await readFile(join(directory, "notes.txt"), "utf8")).toBe("Mine.");
  const pages = (await readdir(directory)).filter((name) => name.endsWith(".html"));
  expect(pages.toSorted()).toEqual(["page.html", expect.stringMatching(/^tau-session-.*job\.html$/)]);
  const sameAs = (await run(workspace, ["sessions", "export", "job"])).out;
  for (const page of pages) expect(await readFile(join(directory, page), "utf8")).toBe(sameAs);
  await writeFile(join(directory, "notes.md"), "Keep me.");
  expect(await run(workspace, ["--export", "job", "notes.md"])).toMatchObject({ code: exitCodes.usage });
  expect(await readFile(join(directory, "notes.md"), "utf8")).toBe("Keep me.");
  const both = await run(workspace, ["--export", "job", "a", "b"]);
  expect(both).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("--export takes one file") });
  expect((await readdir(directory)).filter((name) => name.startsWith("a"))).toEqual([]);
  expect(await run(workspace, ["--export", "unknown"])).toMatchObject({ code: exitCodes.usage });
});

test.each([
  ["login", "tau auth login"],
  ["logout anthropic", "tau auth logout"],
  ["upgrade", "tau update"],
  ["uninstall the packages", "tau remove"],
  ["plugin add x", "tau install"],
  ["version", "tau --version"],
  ["chat", "tau alone"],
  ["run", "tau -p"],
  ["exec", "tau -p"],
  ["cost", "tau stats"],
  ["usage --json", "/session"],
  ["resume", "tau -r"],
  ["serve", "tau gateway"],
])("tau %s gets a hint instead of a model", async (typed, hint) => {
  const workspace = await createModelWorkspace([]);
  const { code, out, err } = await run(workspace, typed.split(" "));
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain(hint);
  expect(err).toContain(`tau -p "${typed}"`);
});

test.each([
  ["--offline login", "tau auth login"],
  ["--model acme/small login", "tau auth login"],
  ["-c upgrade", "tau update"],
  ["login --model acme/small --offline", "tau auth login"],
  ["--offline sesions list", "Did you mean sessions?"],
  ["--offline sessions list", "a command comes before all flags: tau sessions list"],
])("tau %s gets a hint too, whatever flags are around the word", async (typed, hint) => {
  const workspace = await createModelWorkspace([]);
  const { code, out, err } = await run(workspace, typed.split(" "));
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain(hint);
});

test.each([
  [["login fails on Safari, why?"]],
  [["uninstall", "the", "right", "packages", "please"]],
  [["plugins", "what?"]],
  [["run", "tests"]],
  [["status", "of", "it"]],
  [["-c", "continue"]],
  [["login", "-p"]],
  [["-p", "login"]],
  [["--mode", "text", "--print", "login"]],
  [["--offline", "help", "me"]],
  [["plugin", "servers", "need", "tests"]],
])("%j goes to the model", async (args) => {
  const workspace = await createModelWorkspace([textReply("Well.")]);
  expect(await run(workspace, args)).toMatchObject({ code: 0, out: "Well.\n" });
});

test("tau help of something unknown is a usage error with the topics", async () => {
  const directory = await temporaryDirectory();
  const { code, err } = await run({ directory, agentDir: directory }, ["help", "xyzzy"]);
  expect({ code, err }).toEqual({ code: exitCodes.usage, err: expect.stringContaining("The topics are: ") });
});
