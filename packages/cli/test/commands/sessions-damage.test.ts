/** Tests deleting, restoring and repairing sessions, and damaged ones. */
import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SessionManager } from "@tau/harness";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply, type Workspace } from "../kit.ts";
import { serve } from "../rpc-kit.ts";
import { createSession } from "./create-session.ts";
import { list, getIds } from "./sessions-kit.ts";

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
