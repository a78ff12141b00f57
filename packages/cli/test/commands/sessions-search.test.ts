/** Tests `tau sessions search` over files of sessions. */
import { readdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessionManager } from "@tau/harness";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run, type Workspace } from "../kit.ts";
import { createSession } from "./create-session.ts";

interface Hit {
  session: string;
  cwd: string;
  entryId: string;
  author: string;
  timestamp: string;
  excerpt: string;
  marks: [number, number][];
}

async function search(workspace: Workspace, ...args: string[]): Promise<Hit[]> {
  const { code, out, err } = await run(workspace, ["sessions", "search", "--json", ...args]);
  expect({ code, err }).toEqual({ code: exitCodes.done, err: "" });
  return (JSON.parse(out) as { hits: Hit[] }).hits;
}

test("search lists sessions last used first, with the time, the author, the entry and the marked words", async () => {
  const workspace = await createWorkspace();
  const older = await createSession(workspace, ["Why does the parser fail?", "It is the Café-Parser"], 10);
  const newer = await createSession(workspace, ["Nothing", "A PARSER again\nand a lexer"], 5);
  const { code, out, err } = await run(workspace, ["sessions", "search", "parser"]);
  expect({ code, err }).toEqual({ code: exitCodes.done, err: "" });
  const shown = out.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "TIME").replaceAll(workspace.directory, "DIR");
  const [newerId, olderId] = shown.split("\n\n").map((block) => block.slice(0, block.indexOf(" ")));
  expect(newer.id.startsWith(newerId!) && older.id.startsWith(olderId!)).toBe(true);
  expect(shown).toBe(
    `${newerId}  Nothing · DIR\n  TIME  user  ${newer.entries[1]}\n    A **PARSER** again and a lexer\n\n` +
      `${olderId}  Why does the parser fail? · DIR\n  TIME  user  ${older.entries[1]}\n    It is the Café-**Parser**\n` +
      `  TIME  user  ${older.entries[0]}\n    Why does the **parser** fail?\n`,
  );
  expect(await search(workspace, "again", "pars")).toMatchObject([
    {
      session: newer.id,
      entryId: newer.entries[1],
      author: "user",
      cwd: workspace.directory,
      marks: [
        [2, 6],
        [9, 14],
      ],
    },
  ]);
});

test("all words have to be in one message, and a phrase in quotes is found as it is", async () => {
  const workspace = await createWorkspace();
  await createSession(workspace, ["the red house", "a green car", "the house is red"]);
  const texts = async (...args: string[]) => (await search(workspace, ...args)).map(({ excerpt }) => excerpt);
  expect(await texts("red", "house")).toEqual(["the house is red", "the red house"]);
  expect(await texts("red house")).toEqual(["the house is red", "the red house"]);
  expect(await texts('"red house"')).toEqual(["the red house"]);
  expect(await texts("red", "car")).toEqual([]);
});

test("renamed, forked and restored sessions are found, and deleted ones are not", async () => {
  const workspace = await createWorkspace();
  const { id, path, entries } = await createSession(workspace, ["needle"]);
  const count = async (word: string) => (await search(workspace, word)).length;
  expect(await count("needle")).toBe(1);
  await run(workspace, ["sessions", "rename", id, "Haystack"]);
  expect(await search(workspace, "haystack")).toMatchObject([{ session: id, author: "name" }]);
  await run(workspace, ["sessions", "branch", id, "--from", entries[0]!]);
  expect(await count("needle")).toBe(2);
  await run(workspace, ["sessions", "delete", id]);
  expect(await count("needle")).toBe(1);
  expect(await readdir(join(dirname(path), "trash"))).not.toContainEqual(expect.stringContaining(".search"));
  await run(workspace, ["sessions", "restore", id]);
  expect(await count("needle")).toBe(2);
});

test("filters leave out sessions of other directories, other models, other costs and messages of another time", async () => {
  const workspace = await createWorkspace();
  const { agentDir } = workspace;
  const create = async (cwd: string, model: string, cost: number) => {
    const session = await SessionManager.create(cwd, undefined, { agentDir, durability: "none" });
    const usage = {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost },
    };
    const content = [{ type: "text" as const, text: "needle" }];
    const answer = {
      role: "assistant" as const,
      content,
      api: "x",
      provider: "acme",
      model,
      usage,
      stopReason: "stop" as const,
      timestamp: 1,
    };
    await session.appendMessage(answer);
    await session.close();
    await utimes(session.getSessionFile()!, 1, 1);
    return session.id;
  };
  const here = await create(join(workspace.directory, "sub"), "small", 0.1);
  const there = await create("/elsewhere", "large", 2);
  const ids = async (...args: string[]) => (await search(workspace, "needle", ...args)).map(({ session }) => session);
  expect((await ids()).toSorted()).toEqual([here, there].toSorted());
  expect(await ids("--cwd", ".")).toEqual([here]);
  expect(await ids("--model", "Acme/L")).toEqual([there]);
  expect(await ids("--min-cost", "1")).toEqual([there]);
  expect(await ids("--max-cost", "$1")).toEqual([here]);
  expect(await ids("--since", "1h")).toHaveLength(2);
  expect(await ids("--until", "1h")).toEqual([]);
  expect(await ids("-n", "1")).toHaveLength(1);
});

test("search without anything to search for, and filters that are none, are refused", async () => {
  const workspace = await createWorkspace();
  const errors = async (...args: string[]) => {
    const { code, err } = await run(workspace, ["sessions", "search", ...args]);
    expect(code).toBe(exitCodes.usage);
    return err;
  };
  expect(await errors(" ")).toContain("There is nothing to search for");
  expect(await errors("x", "--since", "yesterday")).toContain("--since takes a date (2026-11-19)");
  expect(await errors("x", "--min-cost", "much")).toContain("--min-cost takes a number");
  expect(await errors("x", "-n", "0")).toContain("--limit takes a number of hits");
  expect(await run(workspace, ["sessions", "search", "absent"])).toEqual({
    code: exitCodes.done,
    out: "",
    err: "No message of a session has all of this: absent\n",
  });
});
