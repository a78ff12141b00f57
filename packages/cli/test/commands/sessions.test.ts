import { execFile, execFileSync } from "node:child_process";
import { copyFile, lstat, readdir, readFile, stat, symlink, writeFile, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { SessionManager } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply, temporaryDirectory, type Workspace } from "../kit.ts";
import { serve } from "../rpc-kit.ts";
import { createSession } from "./create-session.ts";

const list = async (workspace: Workspace, ...flags: string[]) =>
  JSON.parse((await run(workspace, ["sessions", "list", "--json", ...flags])).out) as {
    id: string;
    path: string;
    name?: string;
  }[];

const getIds = async (workspace: Workspace, ...flags: string[]) =>
  (await list(workspace, ...flags)).map(({ id }) => id);

test("list shows the sessions of this directory, last used first, and marks the one that --continue uses", async () => {
  const workspace = await createWorkspace();
  const old = await createSession(workspace, ["An old question"], 180);
  const last = await createSession(workspace, ["A new one", "and more"], 1);
  const elsewhere = { ...workspace, directory: await temporaryDirectory() };
  const other = await createSession(elsewhere, ["Somewhere else"], 2);
  const { code, out } = await run(workspace, ["sessions", "list"]);
  expect(code).toBe(exitCodes.done);
  const lines = out.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(new RegExp(`^\\* +${last.id.slice(0, 8)} +1 min ago +2  A new one$`));
  expect(lines[2]).toMatch(new RegExp(`^ +${old.id.slice(0, 8)} +3 h ago +1  An old question$`));
  expect(await getIds(workspace)).toEqual([last.id, old.id]);
  expect(await getIds(workspace, "--all")).toEqual([last.id, other.id, old.id]);
});

test("without sessions, or for an unknown one, there is one clear line", async () => {
  const workspace = await createWorkspace();
  expect(await run(workspace, ["sessions", "list"])).toEqual({
    code: exitCodes.done,
    out: "",
    err: `There are no sessions of ${workspace.directory} yet.\n`,
  });
  expect(await list(workspace)).toEqual([]);
  expect(await run(workspace, ["sessions", "show"])).toMatchObject({
    code: exitCodes.failed,
    err: expect.stringMatching(/^tau sessions: There are no sessions of .* yet\..*\n$/),
  });
  expect(await run(workspace, ["sessions", "show", "nowhere"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringMatching(/^tau sessions: There is no session "nowhere"\..*\n$/),
  });
});

test("on a terminal a table is cut to its width, and escape sequences in a name are removed", async () => {
  const workspace = await createWorkspace();
  const { path } = await createSession(workspace, [`\u001b[2J${"long ".repeat(60)}`]);
  const { out } = await run(workspace, ["sessions", "list"], { terminal: { out: true }, env: { COLUMNS: "60" } });
  expect(out).not.toContain("\u001b");
  for (const line of out.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  expect(out).toContain("…");
  expect((await run(workspace, ["sessions", "show", path], { terminal: { out: true } })).out).not.toContain("\u001b");
});

test("show prints the content of a session, with the ids that branch takes", async () => {
  const workspace = await createWorkspace();
  const { id, entries } = await createSession(workspace, ["One", "Two"]);
  const { out } = await run(workspace, ["sessions", "show", id.slice(0, 9)]);
  expect(out).toContain(`session    ${id}`);
  for (const entry of entries) expect(out).toContain(entry);
  const json = JSON.parse((await run(workspace, ["sessions", "show", "--json"])).out) as { entries: { id: string }[] };
  expect(json.entries.map((entry) => entry.id)).toEqual(entries);
});

test("branch creates a session that ends at the entry, tree shows its parent, and --continue uses it", async () => {
  const workspace = await createWorkspace();
  const { id, entries } = await createSession(workspace, ["One", "Two", "Three"], 5);
  const made = await run(workspace, ["sessions", "branch", "--from", entries[1]!.slice(0, 7), "-n", "Another way"]);
  expect(made.code).toBe(exitCodes.done);
  const branchId = made.out.trim();
  expect(await list(workspace)).toMatchObject([{ id: branchId, name: "Another way", parentId: id }, { id }]);
  const shown = JSON.parse((await run(workspace, ["sessions", "show", branchId, "--json"])).out) as {
    entries: unknown[];
  };
  expect(JSON.stringify(shown.entries)).toContain("Two");
  expect(JSON.stringify(shown.entries)).not.toContain("Three");
  const { out } = await run(workspace, ["sessions", "tree"]);
  expect(out).toBe(`${id.slice(0, 8)}: One\n└─ ${branchId.slice(0, 8)} from ${entries[1]}: Another way\n`);
  const json = JSON.parse((await run(workspace, ["sessions", "tree", "--json"])).out) as unknown;
  expect(json).toMatchObject([{ id, children: [{ id: branchId, branchPoint: entries[1], children: [] }] }]);
  expect(await run(workspace, ["sessions", "branch", "--from", "ffffffff"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining('has no entry "ffffffff".'),
  });
  expect(await run(workspace, ["sessions", "branch"])).toMatchObject({
    code: exitCodes.usage,
    err: "tau sessions: --from ENTRY is missing. See tau help sessions.\n",
  });
});

test("tree of a session shows its branches, at any depth", async () => {
  const workspace = await createWorkspace();
  const { path, entries } = await createSession(workspace, ["One", "Two"]);
  const session = await SessionManager.open(path, { agentDir: workspace.agentDir, durability: "none" });
  await session.navigate(entries[0]!);
  // An entry that is not shown does not interrupt the lines of the tree.
  await session.appendSessionInfo("Two ways");
  const other = await session.appendMessage({ role: "user", content: "Two otherwise", timestamp: 1 });
  for (let count = 0; count < 3_000; count++)
    await session.appendMessage({ role: "user", content: "on", timestamp: 1 });
  await session.close();
  const lines = (await run(workspace, ["sessions", "tree", path])).out.trimEnd().split("\n");
  expect(lines.slice(0, 3)).toEqual([
    `${entries[0]} user: One`,
    `├─ ${entries[1]} user: Two`,
    `└─ ${other} user: Two otherwise`,
  ]);
  expect(lines.at(-1)).toMatch(/^ {3}[0-9a-f]{8} user: on \(here\)$/);
  expect(lines).toHaveLength(3_003);
});

test("switch makes --continue use a session, and does not change its content", async () => {
  const workspace = await createModelWorkspace([textReply("Aye.")]);
  const first = await createSession(workspace, ["The first"], 60);
  await createSession(workspace, ["From tomorrow"], -24 * 60);
  const before = await readFile(first.path);
  const { code, out } = await run(workspace, ["sessions", "switch", first.id]);
  expect(code).toBe(exitCodes.done);
  expect(out).toBe(`tau --continue now continues ${first.id}.\n`);
  expect(await readFile(first.path)).toEqual(before);
  expect((await getIds(workspace))[0]).toBe(first.id);
  await run(workspace, ["-c", "-p", "Which are you?"]);
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("The first");
});

test("switch to a session of another directory says where it has an effect", async () => {
  const workspace = await createWorkspace();
  const elsewhere = { ...workspace, directory: await temporaryDirectory() };
  const { id } = await createSession(elsewhere, ["There"], 60);
  const last = await createSession(elsewhere, ["There too"], 1);
  const { out } = await run(workspace, ["sessions", "switch", id]);
  expect(out).toBe(`In ${elsewhere.directory}, tau --continue now continues ${id}. Here: tau --session ${id}\n`);
  expect(await getIds(elsewhere)).toEqual([id, last.id]);
});

test("branch and import say how the new session is continued, wherever it is", async () => {
  const workspace = await createWorkspace();
  const elsewhere = { ...workspace, directory: await temporaryDirectory() };
  const here = await createSession(workspace, ["Here"], 60);
  const there = await createSession(elsewhere, ["There"], 60);
  const copy = join(workspace.directory, "copy.jsonl");
  await run(workspace, ["sessions", "export", here.id, "-o", copy]);
  const getUse = async (...args: string[]) => {
    const { out, err } = await run(workspace, ["sessions", ...args]);
    return { id: out.trim(), use: / To use (?:it|them): (.*)\n$/.exec(err)?.[1] };
  };
  expect(await getUse("branch", here.id, "--from", here.entries[0]!)).toMatchObject({ use: "tau --continue" });
  const other = await getUse("branch", there.id, "--from", there.entries[0]!);
  expect(other.use).toBe(`tau --session ${other.id}`);
  const outside = await getUse("branch", copy, "--from", here.entries[0]!);
  expect(outside.use).toMatch(new RegExp(`^tau --session ${workspace.directory}/.*${outside.id}\\.jsonl$`));
  const imported = await getUse("import", copy, "--session-dir", join(workspace.directory, "sessions"));
  expect(imported.use).toMatch(new RegExp(`^tau --session ${workspace.directory}/sessions/.*\\.jsonl$`));
  expect(await getUse("import", copy)).toMatchObject({ use: "tau --continue" });
});

test("switch refuses a session file where --continue does not look", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["One"]);
  const copy = join(workspace.directory, "copy.jsonl");
  await run(workspace, ["sessions", "export", id, "-o", copy]);
  const { code, out, err } = await run(workspace, ["sessions", "switch", copy]);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain(`--continue does not look there. Use: tau --session ${copy}\n`);
});

test("rename sets the name, and does not make the session the last used one", async () => {
  const workspace = await createWorkspace();
  const old = await createSession(workspace, ["Old"], 60);
  const last = await createSession(workspace, ["New"], 1);
  const result = await run(workspace, ["sessions", "rename", old.id, "The", "long", "way"]);
  expect(result).toMatchObject({ code: exitCodes.done, out: `${old.id} is now called "The long way".\n` });
  expect(await list(workspace)).toMatchObject([{ id: last.id }, { id: old.id, name: "The long way" }]);
});

test("a session that another process writes can be read and switched to, but not renamed, repaired or deleted", async () => {
  const workspace = await createWorkspace();
  const { id, path } = await createSession(workspace, ["Mine"]);
  const holder = await SessionManager.open(path, { agentDir: workspace.agentDir });
  onTestFinished(() => holder.close());
  for (const args of [
    ["rename", id, "Ours"],
    ["repair", id],
    ["delete", id],
    ["delete", id, "--for-good", "--yes"],
  ]) {
    const { code, err, out } = await run(workspace, ["sessions", ...args]);
    expect([code, out]).toEqual([exitCodes.failed, ""]);
    expect(err).toMatch(new RegExp(`^tau sessions: The session .* process ${process.pid}\\..*\\n$`));
  }
  expect((await run(workspace, ["sessions", "show", id])).code).toBe(exitCodes.done);
  expect((await run(workspace, ["sessions", "switch", id])).code).toBe(exitCodes.done);
  await holder.appendMessage({ role: "user", content: "still here", timestamp: 1 });
});

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

test("delete moves a session to the trash without a question, and restore brings it back as it was", async () => {
  const workspace = await createWorkspace();
  const deleted = await createSession(workspace, ["Away with me"], 5);
  const kept = await createSession(workspace, ["Not me"], 10);
  const before = await readFile(deleted.path, "utf8");
  expect(await run(workspace, ["sessions", "delete", deleted.id], { input: "" })).toEqual({
    code: exitCodes.done,
    out: `Moved ${deleted.id} (1 entry) to the trash. To get it back: tau sessions restore ${deleted.id}\n`,
    err: "",
  });
  expect(await getIds(workspace)).toEqual([kept.id]);
  expect(await getIds(workspace, "--all")).toEqual([kept.id]);
  expect(await run(workspace, ["sessions", "restore", deleted.id])).toEqual({
    code: exitCodes.done,
    out: `Restored ${deleted.id}: ${deleted.path}\n`,
    err: "",
  });
  expect(await readFile(deleted.path, "utf8")).toBe(before);
  expect(await getIds(workspace)).toEqual([deleted.id, kept.id]);
  expect(await run(workspace, ["sessions", "restore", deleted.id])).toMatchObject({
    code: exitCodes.usage,
    err: `tau sessions: There is no deleted session "${deleted.id}".\n`,
  });
});

test("a session that was deleted by its path is restored by the path that delete prints", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["One"]);
  await run(workspace, ["sessions", "export", id, "-o", "copy.jsonl"]);
  const { out } = await run(workspace, ["sessions", "delete", "copy.jsonl", "--force"]);
  const trashed = join(workspace.directory, "trash", "copy.jsonl");
  expect(out).toContain(`To get it back: tau sessions restore ${trashed}\n`);
  expect(await run(workspace, ["sessions", "restore", trashed])).toMatchObject({ code: exitCodes.done });
  expect(await readFile(join(workspace.directory, "copy.jsonl"), "utf8")).toContain("One");
});

test("delete with a reference that fits no session deletes none of the others", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["One"]);
  expect((await run(workspace, ["sessions", "delete", id, "nowhere"])).code).toBe(exitCodes.usage);
  expect(await getIds(workspace)).toEqual([id]);
});

test("delete --for-good asks first, needs --yes without a terminal, and leaves nothing of the session", async () => {
  const workspace = await createWorkspace();
  const deleted = await createSession(workspace, ["Away with me"]);
  const kept = await createSession(workspace, ["Not me"]);
  await copyFile(deleted.path, `${deleted.path}.torn-1`);
  const args = ["sessions", "delete", "--for-good", deleted.id];
  const silent = await run(workspace, args, { input: "" });
  expect(silent).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("this needs --yes") });
  const interactive = { terminal: { input: true, err: true } };
  const no = await run(workspace, args, { ...interactive, input: "n\n" });
  expect(no).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(no.err).toContain(`Delete ${deleted.id} (1 entry) for good? [y/N] `);
  await stat(deleted.path);
  expect((await run(workspace, args, { ...interactive, input: "y\n" })).code).toBe(0);
  const names = await readdir(dirname(deleted.path));
  expect(names.filter((name) => name.startsWith(basename(deleted.path)))).toEqual([]);
  expect((await run(workspace, ["sessions", "restore", deleted.id])).code).toBe(exitCodes.usage);
  expect(await getIds(workspace)).toEqual([kept.id]);
  expect((await run(workspace, ["sessions", "delete", kept.id, "--for-good", "--yes"])).code).toBe(0);
  expect(await getIds(workspace)).toEqual([]);
});

test("delete keeps other sessions whose id begins with the name of the file", async () => {
  const workspace = await createWorkspace();
  const ids = ["a", "a.jsonl.b", "a.jsonl.b.jsonl.c"];
  for (const id of ids) {
    const session = await SessionManager.create(workspace.directory, undefined, { agentDir: workspace.agentDir, id });
    await session.appendMessage({ role: "user", content: "Hi", timestamp: 1 });
    await session.close();
    await writeFile(`${session.getSessionFile()!}.torn-1`, "torn");
  }
  for (const [index, id] of ids.entries()) {
    expect(await run(workspace, ["sessions", "delete", id, "--for-good", "--yes"])).toMatchObject({ code: 0 });
    expect((await getIds(workspace)).sort()).toEqual(ids.slice(index + 1));
  }
  const [directory] = await readdir(join(workspace.agentDir, "sessions"));
  expect(
    (await readdir(join(workspace.agentDir, "sessions", directory!))).filter((name) => name.includes("jsonl")),
  ).toEqual([]);
});

test.for(["These are notes.", '{"name":"x","type":"module"}', '{"type":"event","id":"1"}'])(
  "no command deletes, rewrites or imports a file that is not a session: %s",
  async (text) => {
    const workspace = await createWorkspace();
    const file = join(workspace.directory, "package.json");
    await writeFile(file, `${text}\n`);
    for (const args of [
      ["delete", file, "--force"],
      ["delete", file, "--force", "--for-good", "--yes"],
      ["repair", file, "--force"],
      ["rename", file, "A name", "--force"],
      ["import", file],
      ["branch", file, "--from", "1"],
    ]) {
      expect(await run(workspace, ["sessions", ...args])).toMatchObject({
        code: exitCodes.usage,
        err: `tau sessions: ${file} is not a session file (no header, no messages).\n`,
      });
    }
    expect(await readdir(workspace.directory)).toEqual(["package.json"]);
    expect(await readFile(file, "utf8")).toBe(`${text}\n`);
  },
);

test("list and tree tell once which sessions are damaged, on standard error, and keep the table and the JSON whole", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  for (const id of ["whole", "hurt"]) await run(workspace, ["--session-id", id, "-p", "Hi"]);
  const { path } = (await list(workspace)).find(({ id }) => id === "hurt")!;
  await writeFile(path, (await readFile(path, "utf8")).replace("One.", "Xne.").replace("Two.", "Xwo."));
  const told = "tau: This session is damaged: hurt. See what was lost: tau sessions repair ID\n";
  for (const args of [["list"], ["list"], ["list", "--json"], ["tree"], ["tree", "--json"], ["list", "--all"]]) {
    expect(await run(workspace, ["sessions", ...args]), args.join(" ")).toMatchObject({ code: 0, err: told });
  }
  const tree = await run(workspace, ["sessions", "tree", "hurt"]);
  expect(tree.err).toMatch(/^Line \d+ is damaged: its checksum is wrong\.\n$/);
  expect((await run(workspace, ["sessions", "tree", "whole"])).err).toBe("");
});

test("a header whose directory is not a text counts as damaged, and every command still works", async () => {
  const workspace = await createWorkspace();
  const { path, entries } = await createSession(workspace, ["One"]);
  const [header, ...rest] = (await readFile(path, "utf8")).split("\n");
  const { crc: _crc, ...fields } = JSON.parse(header!) as Record<string, unknown>;
  await writeFile(path, [JSON.stringify({ ...fields, cwd: 5 }), ...rest].join("\n"));
  for (const args of [
    ["show", path],
    ["export", path],
    ["branch", path, "--from", entries[0]!],
  ]) {
    expect(await run(workspace, ["sessions", ...args])).toMatchObject({ code: exitCodes.done });
  }
});

test("a session with a damaged header is still the one that --continue and repair use, and the damage is told", async () => {
  const workspace = await createModelWorkspace([textReply("Yes.")]);
  const { id, path } = await createSession(workspace, ["Are you there?"]);
  await writeFile(path, (await readFile(path, "utf8")).replace('"version"', '"vdrsion"'));
  expect((await run(workspace, ["sessions", "list"])).out).toMatch(new RegExp(`^\\* +${id.slice(0, 8)}`, "m"));
  const continued = await run(workspace, ["-p", "--continue", "Go on."]);
  expect(continued).toMatchObject({ code: exitCodes.done, out: "Yes.\n" });
  expect(continued.err).toContain("damaged");
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Are you there?");
  expect((await run(workspace, ["sessions", "repair"])).out).toContain("Line 1 is damaged");
});

test("delete, repair and rename refuse a session outside of the session directories, unless they are forced", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["One"]);
  await run(workspace, ["sessions", "export", id, "-o", "copy.jsonl"]);
  const copy = join(workspace.directory, "copy.jsonl");
  const before = await readFile(copy, "utf8");
  for (const [command, ...rest] of [["delete"], ["delete", "--for-good", "--yes"], ["repair"], ["rename", "A name"]]) {
    const refused = await run(workspace, ["sessions", command!, copy, ...rest]);
    expect(refused).toMatchObject({ code: exitCodes.usage, out: "" });
    expect(refused.err).toContain(`${copy} is outside of the session directories`);
    expect(refused.err).toContain("--force");
  }
  expect(await readFile(copy, "utf8")).toBe(before);
  expect(await readdir(workspace.directory)).toEqual(["copy.jsonl"]);
  expect((await run(workspace, ["sessions", "rename", copy, "A", "name", "--force"])).out).toContain('"A name"');
});

/** A session with an index, then one flipped byte in each of three messages. */
async function createDamaged(workspace: Workspace) {
  const texts = Array.from({ length: 30 }, (_, index) => `Question ${index} ${"x".repeat(4_000)}`);
  const session = await createSession(workspace, texts, 30);
  expect((await stat(`${session.path}.idx`)).size).toBeGreaterThan(0);
  const bytes = await readFile(session.path);
  for (const number of [5, 12, 20]) bytes[bytes.indexOf(`Question ${number} `)]! ^= 1;
  await writeFile(session.path, bytes);
  return session;
}

test("damage behind an index is told by every surface, once", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok"), textReply("ok"), textReply("ok")]);
  const { id, path, entries } = await createDamaged(workspace);
  const told = `The session file ${path} is damaged. 3 entries are lost. Line 7 is damaged: its checksum is wrong.`;
  const count = (text: string) => text.split(told).length - 1;
  expect(count((await run(workspace, ["--continue", "-p", "Hi"])).err)).toBe(1);
  expect(count((await run(workspace, ["--continue", "--mode", "json", "Hi"])).out)).toBe(1);
  const rpc = serve(workspace, { args: ["--continue"] });
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_end");
  await rpc.close();
  expect(rpc.records.filter(({ message }) => typeof message === "string" && count(message) === 1)).toHaveLength(1);
  const branch = ["sessions", "branch", id, "--from", entries.at(-1)!];
  for (const args of [["sessions", "export", id, "--format", "md"], branch]) {
    expect((await run(workspace, args)).err).toContain("Line 7 is damaged: its checksum is wrong.");
  }
  // The copy has no damage, so this is the only time to say it.
  expect(count((await run(workspace, ["--fork", id, "-p", "Hi"])).err)).toBe(1);
});

test("the first repair finds the damage behind an index", async () => {
  const workspace = await createWorkspace();
  const { id } = await createDamaged(workspace);
  const { out } = await run(workspace, ["sessions", "repair", "--json"]);
  expect(JSON.parse(out)).toMatchObject({ id, entries: 27, keptAs: expect.stringContaining(".damaged-") });
  const again = await run(workspace, ["sessions", "repair"]);
  expect(again.out).toBe(`${id} has 27 entries and no damage.\n`);
});

test("repair leaves out damaged lines, reports them, and leaves a session without damage", async () => {
  const workspace = await createWorkspace();
  const { id, path, entries } = await createSession(workspace, ["One", "Two", "Three"], 30);
  const lines = (await readFile(path, "utf8")).split("\n");
  const damaged = lines.map((line, index) => (index === 2 ? line.replace("Two", "T\u0000o") : line)).join("\n");
  await writeFile(path, `${damaged}{"type":"message","id":"torn`);
  const { mtimeMs } = await stat(path);
  const { code, out } = await run(workspace, ["sessions", "repair", id]);
  expect(code).toBe(exitCodes.done);
  expect(out).toMatch(/Line 3 /);
  expect(out).toMatch(/The last line is incomplete .*set aside: .*\.torn-/);
  const keptAs = /The damaged file was kept: (.*)\n$/.exec(out)?.[1];
  expect(await readFile(keptAs!, "utf8")).toBe(damaged);
  expect(Math.abs((await stat(path)).mtimeMs - mtimeMs)).toBeLessThan(2_000);
  const session = await SessionManager.open(path, { agentDir: workspace.agentDir });
  expect(session.problems).toEqual([]);
  expect((await session.getBranch()).map((entry) => entry.id)).toEqual([entries[0], entries[2]]);
  await session.appendMessage({ role: "user", content: "on", timestamp: 1 });
  await session.close();
  expect((await run(workspace, ["sessions", "repair", id])).out).toBe(`${id} has 3 entries and no damage.\n`);
});

test("repair creates a lost header again if the location of the file tells the directory", async () => {
  const workspace = await createWorkspace();
  const { id, path } = await createSession(workspace, ["One"]);
  const [, ...entries] = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, ["{lost", ...entries].join("\n"));
  const json = JSON.parse((await run(workspace, ["sessions", "repair", path, "--json"])).out) as {
    problems: unknown[];
  };
  expect(json.problems.length).toBeGreaterThan(0);
  expect(await list(workspace)).toMatchObject([{ id, cwd: workspace.directory, firstMessage: "One" }]);
});

test("an unknown subcommand or option gets a suggestion", async () => {
  const workspace = await createWorkspace();
  expect(await run(workspace, ["sessions", "lsit"])).toEqual({
    code: exitCodes.usage,
    out: "",
    err: 'tau sessions: there is no subcommand "lsit". Did you mean "list"? See tau help sessions.\n',
  });
  expect((await run(workspace, ["sessions", "list", "--jsno"])).err).toContain('Did you mean "--json"?');
  expect((await run(workspace, ["sessions"])).err).toContain("name a subcommand: list, tree, show");
  expect((await run(workspace, ["sessions", "list", "extra"])).code).toBe(exitCodes.usage);
  expect((await run(workspace, ["sessions", "export", "--help"])).out).toContain("tau sessions export [SESSION]");
});

test("import into a directory that cannot be written fails in one line", async () => {
  const workspace = await createWorkspace();
  const { id } = await createSession(workspace, ["One"]);
  await run(workspace, ["sessions", "export", id, "-o", "out.jsonl"]);
  const agentDir = join(workspace.directory, "a-file");
  await writeFile(agentDir, "");
  const result = await run({ ...workspace, agentDir }, ["sessions", "import", "out.jsonl"]);
  expect(result).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(result.err).toMatch(/^tau sessions: [^\n]*a-file[^\n]*\n$/);
});

test("reading many sessions for the first time shows progress, only on a terminal", async () => {
  const workspace = await createWorkspace();
  const { path } = await createSession(workspace, ["One"]);
  for (let count = 0; count < 120; count++) await copyFile(path, path.replace(".jsonl", `-${count}.jsonl`));
  const { err, out } = await run(workspace, ["sessions", "list", "--json"], { terminal: { err: true } });
  expect(err).toContain("reading sessions: 100 of 121");
  expect(err.endsWith("\u001b[G\u001b[2K")).toBe(true);
  expect(JSON.parse(out)).toHaveLength(121);
  await copyFile(path, path.replace(".jsonl", "-x.jsonl"));
  expect((await run(workspace, ["sessions", "list", "--json"])).err).toBe("");
});

test("an empty reference means no session, even if there is only one", async () => {
  const workspace = await createWorkspace();
  const { path } = await createSession(workspace, ["One"]);
  for (const args of [
    ["sessions", "delete", ""],
    ["sessions", "restore", ""],
    ["sessions", "switch", " "],
    ["--session", "", "-p", "x"],
  ]) {
    expect(await run(workspace, args)).toMatchObject({ code: exitCodes.usage });
  }
  expect(await readFile(path, "utf8")).toContain("One");
});

test("delete also removes stored tool results", async () => {
  const workspace = await createWorkspace();
  const { id, path } = await createSession(workspace, ["One"]);
  await mkdir(`${path}.results`);
  await writeFile(join(`${path}.results`, "result-1.txt"), "long");
  expect(await run(workspace, ["sessions", "delete", id, "--for-good", "--yes"])).toMatchObject({ code: 0 });
  expect((await readdir(join(path, ".."))).filter((name) => name.includes(id))).toEqual([]);
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
