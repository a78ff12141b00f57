/** Tests the export and import of sessions. */
import { execFile, execFileSync } from "node:child_process";
import { lstat, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, temporaryDirectory } from "../kit.ts";
import { serve } from "../rpc-kit.ts";
import { createSession } from "./create-session.ts";
import { list, getIds } from "./sessions-kit.ts";

test("export writes HTML, Markdown or JSON lines, and replaces a file only with --yes", async () => {
  const workspace = await createWorkspace();
  const { id, path: log } = await createSession(workspace, ["How many <wheels>?"]);
  const before = await readFile(log, "utf8");
  const ontoLog = await run(workspace, ["sessions", "export", id, "-o", log, "--yes"]);
  expect(ontoLog).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("is the log of the session") });
  expect(await readFile(log, "utf8")).toBe(before);
  expect((await run(workspace, ["sessions", "export", id])).out).toContain("How many &lt;wheels&gt;?");
  expect((await run(workspace, ["sessions", "export", "--format", "md"])).out).toContain("How many");
  const file = join(workspace.directory, "out.jsonl");
  expect((await run(workspace, ["sessions", "export", "-o", "out.jsonl"])).err).toBe(`Wrote ${file}.\n`);
  expect(JSON.parse((await readFile(file, "utf8")).split("\n")[0]!)).toMatchObject({ type: "session", id });
  const again = await run(workspace, ["sessions", "export", "--format", "md", "-o", "out.jsonl"]);
  expect(again).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("exists already") });
  expect(await readFile(file, "utf8")).toContain('"session"');
  expect((await run(workspace, ["sessions", "export", "--format", "md", "-o", "out.jsonl", "--yes"])).code).toBe(0);
  expect(await readFile(file, "utf8")).not.toContain('"type":"session"');
  // A directory where no file can be created, although it exists.
  expect(await run(workspace, ["sessions", "export", "-o", "/proc/nope/x.html"])).toMatchObject({
    code: exitCodes.failed,
  });
  expect(await run(workspace, ["sessions", "export", "--format", "pdf"])).toMatchObject({
    code: exitCodes.usage,
    err: 'tau sessions: --format takes html, md, jsonl, not "pdf". See tau help sessions.\n',
  });
});

test("an export is readable only by its owner, follows links, and replaces only files", async () => {
  const workspace = await createWorkspace();
  await createSession(workspace, ["How many wheels?"]);
  const toPath = (name: string) => join(workspace.directory, name);
  const exportTo = (name: string, ...more: string[]) => run(workspace, ["sessions", "export", "-o", name, ...more]);
  await writeFile(toPath("real.md"), "before", { mode: 0o644 });
  await symlink("real.md", toPath("link.md"));
  expect(await exportTo("link.md")).toMatchObject({ code: exitCodes.usage });
  expect(await exportTo("link.md", "--yes")).toMatchObject({ code: 0, err: `Wrote ${toPath("real.md")}.\n` });
  expect((await lstat(toPath("link.md"))).isSymbolicLink()).toBe(true);
  expect(await readFile(toPath("real.md"), "utf8")).toContain("wheels");
  expect((await stat(toPath("real.md"))).mode & 0o777).toBe(0o600);
  await symlink("nowhere", toPath("dangling"));
  for (const [name, problem] of [
    ["dangling", "is a link to a file that does not exist"],
    [".", "is a directory"],
  ] as const) {
    const { code, err } = await exportTo(name, "--yes");
    expect({ code, err }).toEqual({
      code: 2,
      err: `tau sessions: ${resolve(toPath(name))} ${problem}. Choose another name.\n`,
    });
  }
  expect(await exportTo("/dev/null", "--yes")).toMatchObject({ code: 0 });
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
  expect(await exportTo("/dev/full")).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining("ENOSPC") });
});

test("commands that read a whole session do not wait for it when the program is told to end", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["How many wheels?"]);
  const commands = ["list", "show", "tree", "export", "repair"].map((name) => ["sessions", name]);
  for (const args of [...commands, ["--export", id]]) {
    const ended = await run(workspace, args, { signal: AbortSignal.abort("SIGTERM") });
    expect([args, ended.code]).toEqual([args, exitCodes.interrupted]);
    // `head` has read enough.
    const enough = await run(workspace, args, { signal: AbortSignal.abort("SIGPIPE") });
    expect([args, enough.code]).toEqual([args, exitCodes.done]);
  }
});

test("an export waits for the reader of a pipe, unless it is interrupted", async () => {
  const workspace = await createWorkspace();
  // More than the pipe holds.
  await createSession(workspace, ["wheels ".repeat(40_000)]);
  const pipe = join(workspace.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const args = ["sessions", "export", "--format", "md", "-o", "pipe"];
  const exported = run(workspace, args);
  const read = promisify(execFile)("cat", [pipe], { maxBuffer: 10 ** 7 });
  expect(await exported).toMatchObject({ code: 0, err: `Wrote ${pipe}.\n` });
  expect((await read).stdout).toBe((await run(workspace, args.slice(0, -2))).out);
  const reader = promisify(execFile)("head", ["-c", "1", pipe]);
  expect(await run(workspace, args)).toMatchObject({
    code: 1,
    err: `tau sessions: ${pipe} was not read to its end.\n`,
  });
  await reader;
  const interrupted = await run(workspace, args, { signal: AbortSignal.timeout(300) });
  expect(interrupted).toMatchObject({ code: exitCodes.interrupted, err: "" });
  expect((await stat(pipe)).isFIFO()).toBe(true);
});

test("exported JSON lines can be imported elsewhere under their id, or here under a new one", async () => {
  const workspace = await createWorkspace();
  const { id, entries } = await createSession(workspace, ["One", "Two"]);
  const file = join(workspace.directory, "out.jsonl");
  await run(workspace, ["sessions", "export", id, "-o", file]);
  const again = await run(workspace, ["sessions", "import", "out.jsonl"]);
  expect(again.code).toBe(exitCodes.done);
  expect((await getIds(workspace)).toSorted()).toEqual([id, again.out.trim()].toSorted());
  const elsewhere = { ...workspace, directory: await temporaryDirectory() };
  expect((await run(elsewhere, ["sessions", "import", file])).out.trim()).toBe(id);
  expect(await list(elsewhere)).toMatchObject([{ id, cwd: elsewhere.directory, messageCount: 2 }]);
  const shown = JSON.parse((await run(elsewhere, ["sessions", "show", id, "--json"])).out) as {
    entries: { id: string }[];
  };
  expect(shown.entries.map((entry) => entry.id)).toEqual(entries);
});

test("an imported session stays in its directory if that is asked for", async () => {
  const [workspace, elsewhere] = [await createWorkspace(), await createWorkspace()];
  const { id } = await createSession(workspace, ["One"]);
  const file = join(workspace.directory, "out.jsonl");
  await run(workspace, ["sessions", "export", id, "-o", file]);
  const { out } = await run(elsewhere, ["sessions", "import", file, "--keep-directory", "--json"]);
  const { path } = JSON.parse(out) as { path: string };
  expect(JSON.parse((await readFile(path, "utf8")).split("\n")[0]!)).toMatchObject({ id, cwd: workspace.directory });
  expect(await getIds(elsewhere)).toEqual([]);
});

test("import reads old versions of pi and damaged files, and reports lines that it could not read", async () => {
  const workspace = await createWorkspace();
  const message = { role: "user", content: "From long ago", timestamp: 1 };
  const lines = [
    { type: "session", id: "ancient", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/gone" },
    { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message },
  ].map((line) => JSON.stringify(line));
  await writeFile(join(workspace.directory, "old.jsonl"), `${lines.join("\n")}\n{half a line\n`);
  const { code, out, err } = await run(workspace, ["sessions", "import", "old.jsonl"]);
  expect([code, out]).toEqual([exitCodes.done, "ancient\n"]);
  expect(err).toContain("Line 3 is not a readable entry; it is skipped.");
  expect(await list(workspace)).toMatchObject([{ id: "ancient", firstMessage: "From long ago" }]);
  await writeFile(join(workspace.directory, "notes.txt"), "These are notes.\n");
  for (const name of ["notes.txt", "nowhere.jsonl"]) {
    const failed = await run(workspace, ["sessions", "import", name]);
    expect(failed).toMatchObject({ code: exitCodes.usage, err: expect.stringMatching(/^tau sessions: .*\n$/) });
  }
  expect(await list(workspace)).toHaveLength(1);
});

test("export_html stays in the working directory, whatever id a log has and whatever link waits there", async () => {
  const workspace = await createModelWorkspace([]);
  const outside = join(await temporaryDirectory(), "victim.html");
  await writeFile(outside, "untouched");
  const header = { type: "session", version: 3, timestamp: "2026-01-01T00:00:00.000Z", cwd: workspace.directory };
  for (const id of [`x/../../../..${outside.replace(/\.html$/, "")}`, "linked"]) {
    await writeFile(join(workspace.directory, "hostile.jsonl"), `${JSON.stringify({ ...header, id })}\n`);
    if (id === "linked") await symlink(outside, join(workspace.directory, "tau-session-linked.html"));
    const rpc = serve(workspace, { args: ["--session", "hostile.jsonl"] });
    const answer = await rpc.ask("export_html");
    await rpc.close();
    if (id === "linked") expect(JSON.stringify(answer)).toContain("is a link");
    else expect(answer).toMatchObject({ data: { path: join(workspace.directory, "tau-session-hostile.html") } });
  }
  expect(await readFile(outside, "utf8")).toBe("untouched");
});
