import { execFile, execFileSync } from "node:child_process";
import { copyFile, lstat, readdir, readFile, stat, symlink, writeFile, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { SessionManager } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/exit-codes.ts";
import { ground, run, says, temporaryDirectory } from "../kit.ts";
import { leaveSession, type Spot, spot } from "./sessions-kit.ts";

const listed = async (place: Spot, ...flags: string[]) =>
  JSON.parse((await run(place, ["sessions", "list", "--json", ...flags])).out) as { id: string; name?: string }[];

const getIds = async (place: Spot, ...flags: string[]) => (await listed(place, ...flags)).map(({ id }) => id);

test("list shows the sessions of this directory, the last used first, and marks the one that --continue takes", async () => {
  const place = await spot();
  const old = await leaveSession(place, ["An old question"], 180);
  const last = await leaveSession(place, ["A new one", "and more"], 1);
  const elsewhere = { ...place, directory: await temporaryDirectory() };
  const other = await leaveSession(elsewhere, ["Somewhere else"], 2);
  const { code, out } = await run(place, ["sessions", "list"]);
  expect(code).toBe(exitCodes.done);
  const lines = out.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(new RegExp(`^\\* +${last.id.slice(0, 8)} +1 min ago +2  A new one$`));
  expect(lines[2]).toMatch(new RegExp(`^ +${old.id.slice(0, 8)} +3 h ago +1  An old question$`));
  expect(await getIds(place)).toEqual([last.id, old.id]);
  expect(await getIds(place, "--all")).toEqual([last.id, other.id, old.id]);
});

test("without a session, or without a directory of ours, there is one clear line", async () => {
  const place = await spot();
  expect(await run(place, ["sessions", "list"])).toEqual({
    code: exitCodes.done,
    out: "",
    err: `There are no sessions of ${place.directory} yet.\n`,
  });
  expect(await listed(place)).toEqual([]);
  expect(await run(place, ["sessions", "show"])).toMatchObject({
    code: exitCodes.failed,
    err: expect.stringMatching(/^tau sessions: There are no sessions of .* yet\..*\n$/),
  });
  expect(await run(place, ["sessions", "show", "nowhere"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringMatching(/^tau sessions: There is no session "nowhere"\..*\n$/),
  });
});

test("on a terminal a table is cut to its width, and nothing in a name moves the cursor", async () => {
  const place = await spot();
  const { path } = await leaveSession(place, [`\u001b[2J${"long ".repeat(60)}`]);
  const { out } = await run(place, ["sessions", "list"], { terminal: { out: true }, env: { COLUMNS: "60" } });
  expect(out).not.toContain("\u001b");
  for (const line of out.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  expect(out).toContain("…");
  expect((await run(place, ["sessions", "show", path], { terminal: { out: true } })).out).not.toContain("\u001b");
});

test("show tells what is in a session, with the ids that branch takes", async () => {
  const place = await spot();
  const { id, entries } = await leaveSession(place, ["One", "Two"]);
  const { out } = await run(place, ["sessions", "show", id.slice(0, 9)]);
  expect(out).toContain(`session    ${id}`);
  for (const entry of entries) expect(out).toContain(entry);
  const json = JSON.parse((await run(place, ["sessions", "show", "--json"])).out) as { entries: { id: string }[] };
  expect(json.entries.map((entry) => entry.id)).toEqual(entries);
});

test("branch makes a session that ends where it was asked to, tree shows whose child it is, --continue takes it", async () => {
  const place = await spot();
  const { id, entries } = await leaveSession(place, ["One", "Two", "Three"], 5);
  const made = await run(place, ["sessions", "branch", "--from", entries[1]!.slice(0, 7), "-n", "Another way"]);
  expect(made.code).toBe(exitCodes.done);
  const branchId = made.out.trim();
  expect(await listed(place)).toMatchObject([{ id: branchId, name: "Another way", parentId: id }, { id }]);
  const shown = JSON.parse((await run(place, ["sessions", "show", branchId, "--json"])).out) as { entries: unknown[] };
  expect(JSON.stringify(shown.entries)).toContain("Two");
  expect(JSON.stringify(shown.entries)).not.toContain("Three");
  const { out } = await run(place, ["sessions", "tree"]);
  expect(out).toBe(`${id.slice(0, 8)}: One\n└─ ${branchId.slice(0, 8)} from ${entries[1]}: Another way\n`);
  const json = JSON.parse((await run(place, ["sessions", "tree", "--json"])).out) as unknown;
  expect(json).toMatchObject([{ id, children: [{ id: branchId, branchPoint: entries[1], children: [] }] }]);
  expect(await run(place, ["sessions", "branch", "--from", "ffffffff"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining('has no entry "ffffffff".'),
  });
  expect(await run(place, ["sessions", "branch"])).toMatchObject({
    code: exitCodes.usage,
    err: "tau sessions: --from ENTRY is missing. See tau help sessions.\n",
  });
});

test("tree of one session shows its branches, however deep it is", async () => {
  const place = await spot();
  const { path, entries } = await leaveSession(place, ["One", "Two"]);
  const session = await SessionManager.open(path, { agentDir: place.agentDir, durability: "none" });
  await session.navigate(entries[0]!);
  // What is not shown breaks no line.
  await session.appendSessionInfo("Two ways");
  const other = await session.appendMessage({ role: "user", content: "Two otherwise", timestamp: 1 });
  for (let at = 0; at < 3_000; at++) await session.appendMessage({ role: "user", content: "on", timestamp: 1 });
  await session.close();
  const lines = (await run(place, ["sessions", "tree", path])).out.trimEnd().split("\n");
  expect(lines.slice(0, 3)).toEqual([
    `${entries[0]} user: One`,
    `├─ ${entries[1]} user: Two`,
    `└─ ${other} user: Two otherwise`,
  ]);
  expect(lines.at(-1)).toMatch(/^ {3}[0-9a-f]{8} user: on \(here\)$/);
  expect(lines).toHaveLength(3_003);
});

test("switch makes a session the one that --continue takes, and changes nothing in it", async () => {
  const place = await ground([says("Aye.")]);
  const first = await leaveSession(place, ["The first"], 60);
  await leaveSession(place, ["From tomorrow"], -24 * 60);
  const before = await readFile(first.path);
  const { code, out } = await run(place, ["sessions", "switch", first.id]);
  expect(code).toBe(exitCodes.done);
  expect(out).toBe(`tau --continue now goes on with ${first.id}.\n`);
  expect(await readFile(first.path)).toEqual(before);
  expect((await getIds(place))[0]).toBe(first.id);
  await run(place, ["-c", "-p", "Which are you?"]);
  expect(JSON.stringify(place.server.requests[0]?.body)).toContain("The first");
});

test("switch to a session of another directory says where it counts", async () => {
  const place = await spot();
  const elsewhere = { ...place, directory: await temporaryDirectory() };
  const { id } = await leaveSession(elsewhere, ["There"], 60);
  const last = await leaveSession(elsewhere, ["There too"], 1);
  const { out } = await run(place, ["sessions", "switch", id]);
  expect(out).toBe(`In ${elsewhere.directory}, tau --continue now goes on with ${id}. Here: tau --session ${id}\n`);
  expect(await getIds(elsewhere)).toEqual([id, last.id]);
});

test("rename gives a name, and does not make the session the last used", async () => {
  const place = await spot();
  const old = await leaveSession(place, ["Old"], 60);
  const last = await leaveSession(place, ["New"], 1);
  const ran = await run(place, ["sessions", "rename", old.id, "The", "long", "way"]);
  expect(ran).toMatchObject({ code: exitCodes.done, out: `${old.id} is now called "The long way".\n` });
  expect(await listed(place)).toMatchObject([{ id: last.id }, { id: old.id, name: "The long way" }]);
});

test("what another process writes can be read and switched to, but not renamed, mended or deleted", async () => {
  const place = await spot();
  const { id, path } = await leaveSession(place, ["Mine"]);
  const holder = await SessionManager.open(path, { agentDir: place.agentDir });
  onTestFinished(() => holder.close());
  for (const args of [
    ["rename", id, "Ours"],
    ["repair", id],
    ["delete", id],
    ["delete", id, "--for-good", "--yes"],
  ]) {
    const { code, err, out } = await run(place, ["sessions", ...args]);
    expect([code, out]).toEqual([exitCodes.failed, ""]);
    expect(err).toMatch(new RegExp(`^tau sessions: The session .* process ${process.pid}\\..*\\n$`));
  }
  expect((await run(place, ["sessions", "show", id])).code).toBe(exitCodes.done);
  expect((await run(place, ["sessions", "switch", id])).code).toBe(exitCodes.done);
  await holder.appendMessage({ role: "user", content: "still here", timestamp: 1 });
});

test("export writes a page, a text or lines, and replaces nothing without being told to", async () => {
  const place = await spot();
  const { id } = await leaveSession(place, ["How many <wheels>?"]);
  expect((await run(place, ["sessions", "export", id])).out).toContain("How many &lt;wheels&gt;?");
  expect((await run(place, ["sessions", "export", "--format", "md"])).out).toContain("How many");
  const file = join(place.directory, "out.jsonl");
  expect((await run(place, ["sessions", "export", "-o", "out.jsonl"])).err).toBe(`Wrote ${file}.\n`);
  expect(JSON.parse((await readFile(file, "utf8")).split("\n")[0]!)).toMatchObject({ type: "session", id });
  const again = await run(place, ["sessions", "export", "--format", "md", "-o", "out.jsonl"]);
  expect(again).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("exists already") });
  expect(await readFile(file, "utf8")).toContain('"session"');
  expect((await run(place, ["sessions", "export", "--format", "md", "-o", "out.jsonl", "--yes"])).code).toBe(0);
  expect(await readFile(file, "utf8")).not.toContain('"type":"session"');
  // Where nothing can be made, although its parent is there.
  expect(await run(place, ["sessions", "export", "-o", "/proc/nope/x.html"])).toMatchObject({ code: exitCodes.failed });
  expect(await run(place, ["sessions", "export", "--format", "pdf"])).toMatchObject({
    code: exitCodes.usage,
    err: 'tau sessions: --format takes html, md, jsonl, not "pdf". See tau help sessions.\n',
  });
});

test("an export is its owner's alone, goes through links to where they lead, and replaces nothing that is no file", async () => {
  const place = await spot();
  await leaveSession(place, ["How many wheels?"]);
  const at = (name: string) => join(place.directory, name);
  const exportTo = (name: string, ...more: string[]) => run(place, ["sessions", "export", "-o", name, ...more]);
  await writeFile(at("real.md"), "before", { mode: 0o644 });
  await symlink("real.md", at("link.md"));
  expect(await exportTo("link.md")).toMatchObject({ code: exitCodes.usage });
  expect(await exportTo("link.md", "--yes")).toMatchObject({ code: 0, err: `Wrote ${at("real.md")}.\n` });
  expect((await lstat(at("link.md"))).isSymbolicLink()).toBe(true);
  expect(await readFile(at("real.md"), "utf8")).toContain("wheels");
  expect((await stat(at("real.md"))).mode & 0o777).toBe(0o600);
  await symlink("nowhere", at("dangling"));
  for (const [name, what] of [
    ["dangling", "is a link to a file that does not exist"],
    [".", "is a directory"],
  ] as const) {
    const { code, err } = await exportTo(name, "--yes");
    expect({ code, err }).toEqual({
      code: 2,
      err: `tau sessions: ${resolve(at(name))} ${what}. Choose another name.\n`,
    });
  }
  expect(await exportTo("/dev/null", "--yes")).toMatchObject({ code: 0 });
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
  expect(await exportTo("/dev/full")).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining("ENOSPC") });
});

test("an export waits for who reads a pipe, and for nobody when it is interrupted", async () => {
  const place = await spot();
  // More than a pipe holds.
  await leaveSession(place, ["wheels ".repeat(40_000)]);
  const pipe = join(place.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const args = ["sessions", "export", "--format", "md", "-o", "pipe"];
  const exported = run(place, args);
  const read = promisify(execFile)("cat", [pipe], { maxBuffer: 10 ** 7 });
  expect(await exported).toMatchObject({ code: 0, err: `Wrote ${pipe}.\n` });
  expect((await read).stdout).toBe((await run(place, args.slice(0, -2))).out);
  const left = promisify(execFile)("head", ["-c", "1", pipe]);
  expect(await run(place, args)).toMatchObject({ code: 1, err: `tau sessions: ${pipe} was not read to its end.\n` });
  await left;
  const interrupted = await run(place, args, { signal: AbortSignal.timeout(300) });
  expect(interrupted).toMatchObject({ code: exitCodes.interrupted, err: "" });
  expect((await stat(pipe)).isFIFO()).toBe(true);
});

test("what was exported as lines can be imported elsewhere, under its own id, or a new one where that is taken", async () => {
  const place = await spot();
  const { id, entries } = await leaveSession(place, ["One", "Two"]);
  const file = join(place.directory, "out.jsonl");
  await run(place, ["sessions", "export", id, "-o", file]);
  const again = await run(place, ["sessions", "import", "out.jsonl"]);
  expect(again.code).toBe(exitCodes.done);
  expect((await getIds(place)).toSorted()).toEqual([id, again.out.trim()].toSorted());
  const elsewhere = { ...place, directory: await temporaryDirectory() };
  expect((await run(elsewhere, ["sessions", "import", file])).out.trim()).toBe(id);
  expect(await listed(elsewhere)).toMatchObject([{ id, cwd: elsewhere.directory, messageCount: 2 }]);
  const shown = JSON.parse((await run(elsewhere, ["sessions", "show", id, "--json"])).out) as {
    entries: { id: string }[];
  };
  expect(shown.entries.map((entry) => entry.id)).toEqual(entries);
});

test("import reads pi's old versions and damaged files, and says what it could not read", async () => {
  const place = await spot();
  const message = { role: "user", content: "From long ago", timestamp: 1 };
  const lines = [
    { type: "session", id: "ancient", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/gone" },
    { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message },
  ].map((line) => JSON.stringify(line));
  await writeFile(join(place.directory, "old.jsonl"), `${lines.join("\n")}\n{half a line\n`);
  const { code, out, err } = await run(place, ["sessions", "import", "old.jsonl"]);
  expect([code, out]).toEqual([exitCodes.done, "ancient\n"]);
  expect(err).toContain("Line 3 is not a readable entry; it is skipped.");
  expect(await listed(place)).toMatchObject([{ id: "ancient", firstMessage: "From long ago" }]);
  await writeFile(join(place.directory, "notes.txt"), "These are notes.\n");
  for (const name of ["notes.txt", "nowhere.jsonl"]) {
    const failed = await run(place, ["sessions", "import", name]);
    expect(failed).toMatchObject({ code: exitCodes.usage, err: expect.stringMatching(/^tau sessions: .*\n$/) });
  }
  expect(await listed(place)).toHaveLength(1);
});

test("delete moves a session to the trash without a question, and restore brings it back as it was", async () => {
  const place = await spot();
  const deleted = await leaveSession(place, ["Away with me"], 5);
  const kept = await leaveSession(place, ["Not me"], 10);
  const before = await readFile(deleted.path, "utf8");
  expect(await run(place, ["sessions", "delete", deleted.id], { input: "" })).toEqual({
    code: exitCodes.done,
    out: `Moved ${deleted.id} (1 entry) to the trash. To get it back: tau sessions restore ${deleted.id}\n`,
    err: "",
  });
  expect(await getIds(place)).toEqual([kept.id]);
  expect(await getIds(place, "--all")).toEqual([kept.id]);
  expect(await run(place, ["sessions", "restore", deleted.id])).toEqual({
    code: exitCodes.done,
    out: `Restored ${deleted.id}: ${deleted.path}\n`,
    err: "",
  });
  expect(await readFile(deleted.path, "utf8")).toBe(before);
  expect(await getIds(place)).toEqual([deleted.id, kept.id]);
  expect(await run(place, ["sessions", "restore", deleted.id])).toMatchObject({
    code: exitCodes.usage,
    err: `tau sessions: There is no deleted session "${deleted.id}".\n`,
  });
});

test("a session that was deleted by its path is restored by the path that delete prints", async () => {
  const place = await spot();
  const { id } = await leaveSession(place, ["One"]);
  await run(place, ["sessions", "export", id, "-o", "copy.jsonl"]);
  const { out } = await run(place, ["sessions", "delete", "copy.jsonl"]);
  const trashed = join(place.directory, "trash", "copy.jsonl");
  expect(out).toContain(`To get it back: tau sessions restore ${trashed}\n`);
  expect(await run(place, ["sessions", "restore", trashed])).toMatchObject({ code: exitCodes.done });
  expect(await readFile(join(place.directory, "copy.jsonl"), "utf8")).toContain("One");
});

test("delete with a reference that fits no session deletes none of the others", async () => {
  const place = await spot();
  const { id } = await leaveSession(place, ["One"]);
  expect((await run(place, ["sessions", "delete", id, "nowhere"])).code).toBe(exitCodes.usage);
  expect(await getIds(place)).toEqual([id]);
});

test("delete --for-good asks first, needs --yes without a terminal, and leaves nothing of the session", async () => {
  const place = await spot();
  const doomed = await leaveSession(place, ["Away with me"]);
  const kept = await leaveSession(place, ["Not me"]);
  await copyFile(doomed.path, `${doomed.path}.torn-1`);
  const args = ["sessions", "delete", "--for-good", doomed.id];
  const silent = await run(place, args, { input: "" });
  expect(silent).toMatchObject({ code: exitCodes.usage, err: expect.stringContaining("needs --yes") });
  const person = { terminal: { input: true, err: true } };
  const no = await run(place, args, { ...person, input: "n\n" });
  expect(no).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(no.err).toContain(`Delete ${doomed.id} (1 entry) for good? [y/N] `);
  await stat(doomed.path);
  expect((await run(place, args, { ...person, input: "y\n" })).code).toBe(0);
  const left = await readdir(dirname(doomed.path));
  expect(left.filter((name) => name.startsWith(basename(doomed.path)))).toEqual([]);
  expect((await run(place, ["sessions", "restore", doomed.id])).code).toBe(exitCodes.usage);
  expect(await getIds(place)).toEqual([kept.id]);
  expect((await run(place, ["sessions", "delete", kept.id, "--for-good", "--yes"])).code).toBe(0);
  expect(await getIds(place)).toEqual([]);
});

test("delete leaves another session whose id begins with the name of the file", async () => {
  const place = await spot();
  const ids = ["a", "a.jsonl.b", "a.jsonl.b.jsonl.c"];
  for (const id of ids) {
    const session = await SessionManager.create(place.directory, undefined, { agentDir: place.agentDir, id });
    await session.appendMessage({ role: "user", content: "Hi", timestamp: 1 });
    await session.close();
    await writeFile(`${session.getSessionFile()!}.torn-1`, "torn");
  }
  for (const [at, id] of ids.entries()) {
    expect(await run(place, ["sessions", "delete", id, "--for-good", "--yes"])).toMatchObject({ code: 0 });
    expect((await getIds(place)).sort()).toEqual(ids.slice(at + 1));
  }
  const [directory] = await readdir(join(place.agentDir, "sessions"));
  expect(
    (await readdir(join(place.agentDir, "sessions", directory!))).filter((name) => name.includes("jsonl")),
  ).toEqual([]);
});

test("delete removes no file that is no session", async () => {
  const place = await spot();
  const notes = join(place.directory, "notes.txt");
  await writeFile(notes, "These are notes.\n");
  for (const flags of [[], ["--for-good", "--yes"]]) {
    expect(await run(place, ["sessions", "delete", notes, ...flags])).toMatchObject({
      code: exitCodes.usage,
      err: `tau sessions: ${notes} is not a session file (no header, no entries).\n`,
    });
  }
  expect((await readdir(place.directory)).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(await readFile(notes, "utf8")).toBe("These are notes.\n");
});

test("repair sets damaged lines aside, says which, and leaves a session in which nothing is wrong", async () => {
  const place = await spot();
  const { id, path, entries } = await leaveSession(place, ["One", "Two", "Three"], 30);
  const lines = (await readFile(path, "utf8")).split("\n");
  const damaged = lines.map((line, at) => (at === 2 ? line.replace("Two", "T\u0000o") : line)).join("\n");
  await writeFile(path, `${damaged}{"type":"message","id":"torn`);
  const { mtimeMs } = await stat(path);
  const { code, out } = await run(place, ["sessions", "repair", id]);
  expect(code).toBe(exitCodes.done);
  expect(out).toMatch(/Line 3 /);
  expect(out).toMatch(/The last line is not whole .*set aside: .*\.torn-/);
  const keptAs = /The file as it was: (.*)\n$/.exec(out)?.[1];
  expect(await readFile(keptAs!, "utf8")).toBe(damaged);
  expect(Math.abs((await stat(path)).mtimeMs - mtimeMs)).toBeLessThan(2_000);
  const session = await SessionManager.open(path, { agentDir: place.agentDir });
  expect(session.problems).toEqual([]);
  expect((await session.getBranch()).map((entry) => entry.id)).toEqual([entries[0], entries[2]]);
  await session.appendMessage({ role: "user", content: "on", timestamp: 1 });
  await session.close();
  expect((await run(place, ["sessions", "repair", id])).out).toBe(
    `${id} has 3 entries, and nothing is wrong with it.\n`,
  );
});

test("repair gives a lost header back where its directory tells whose it was", async () => {
  const place = await spot();
  const { id, path } = await leaveSession(place, ["One"]);
  const [, ...entries] = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, ["{lost", ...entries].join("\n"));
  const json = JSON.parse((await run(place, ["sessions", "repair", path, "--json"])).out) as { problems: unknown[] };
  expect(json.problems.length).toBeGreaterThan(0);
  expect(await listed(place)).toMatchObject([{ id, cwd: place.directory, firstMessage: "One" }]);
});

test("a subcommand or an option that there is not is answered with the nearest", async () => {
  const place = await spot();
  expect(await run(place, ["sessions", "lsit"])).toEqual({
    code: exitCodes.usage,
    out: "",
    err: 'tau sessions: there is no "lsit". Did you mean list? See tau help sessions.\n',
  });
  expect((await run(place, ["sessions", "list", "--jsno"])).err).toContain("Did you mean --json?");
  expect((await run(place, ["sessions"])).err).toContain("say what to do: list, tree, show");
  expect((await run(place, ["sessions", "list", "extra"])).code).toBe(exitCodes.usage);
  expect((await run(place, ["sessions", "export", "--help"])).out).toContain("tau sessions export [SESSION]");
});

test("where sessions cannot be kept, import says so in one line", async () => {
  const place = await spot();
  const { id } = await leaveSession(place, ["One"]);
  await run(place, ["sessions", "export", id, "-o", "out.jsonl"]);
  const agentDir = join(place.directory, "a-file");
  await writeFile(agentDir, "");
  const ran = await run({ ...place, agentDir }, ["sessions", "import", "out.jsonl"]);
  expect(ran).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(ran.err).toMatch(/^tau sessions: [^\n]*a-file[^\n]*\n$/);
});

test("a first look at many sessions is told on a terminal's standard error, and only there", async () => {
  const place = await spot();
  const { path } = await leaveSession(place, ["One"]);
  for (let at = 0; at < 120; at++) await copyFile(path, path.replace(".jsonl", `-${at}.jsonl`));
  const { err, out } = await run(place, ["sessions", "list", "--json"], { terminal: { err: true } });
  expect(err).toContain("looking at sessions: 100 of 121");
  expect(err.endsWith("\r\u001b[2K")).toBe(true);
  expect(JSON.parse(out)).toHaveLength(121);
  await copyFile(path, path.replace(".jsonl", "-x.jsonl"));
  expect((await run(place, ["sessions", "list", "--json"])).err).toBe("");
});

test("an empty name stands for no session, however few there are", async () => {
  const place = await spot();
  const { path } = await leaveSession(place, ["One"]);
  for (const args of [
    ["sessions", "delete", ""],
    ["sessions", "restore", ""],
    ["sessions", "switch", " "],
    ["--session", "", "-p", "x"],
  ]) {
    expect(await run(place, args)).toMatchObject({ code: exitCodes.usage });
  }
  expect(await readFile(path, "utf8")).toContain("One");
});

test("delete takes along what was kept of long results", async () => {
  const place = await spot();
  const { id, path } = await leaveSession(place, ["One"]);
  await mkdir(`${path}.results`);
  await writeFile(join(`${path}.results`, "result-1.txt"), "long");
  expect(await run(place, ["sessions", "delete", id, "--for-good", "--yes"])).toMatchObject({ code: 0 });
  expect((await readdir(join(path, ".."))).filter((name) => name.includes(id))).toEqual([]);
});
