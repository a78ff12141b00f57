import { copyFile, readdir, readFile, writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply, temporaryDirectory } from "../kit.ts";
import { createSession } from "./create-session.ts";
import { list, getIds } from "./sessions-kit.ts";

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
  expect(out).toBe(
    `${id.slice(0, 8)}: One (unanswered)\n└─ ${branchId.slice(0, 8)} from ${entries[1]}: Another way (unanswered)\n`,
  );
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
    expect(err).toMatch(new RegExp(`^tau sessions: The session .* another part of this program\\..*\\n$`));
  }
  expect((await run(workspace, ["sessions", "show", id])).code).toBe(exitCodes.done);
  expect((await run(workspace, ["sessions", "switch", id])).code).toBe(exitCodes.done);
  await holder.appendMessage({ role: "user", content: "still here", timestamp: 1 });
});

test("an unknown subcommand or option gets a suggestion", async () => {
  const workspace = await createWorkspace();
  expect(await run(workspace, ["sessions", "lsit"])).toEqual({
    code: exitCodes.usage,
    out: "",
    err: 'tau sessions: there is no subcommand "lsit". Did you mean "list"? See tau help sessions.\n',
  });
  expect((await run(workspace, ["sessions", "list", "--jsno"])).err).toContain('Did you mean "--json"?');
  expect((await run(workspace, ["sessions"])).err).toContain("name a subcommand: list, search, tree, show");
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
