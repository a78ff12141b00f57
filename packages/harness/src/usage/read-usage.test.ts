import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyUsage } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { encodeLine } from "../session/line.ts";
import { getUsage } from "./get-usage.ts";

const timestamp = "2026-03-02T12:00:00.000Z";
const usage = { ...emptyUsage(), input: 10, totalTokens: 10, cost: { ...emptyUsage().cost, total: 1 } };
let count = 0;
const answer = () =>
  encodeLine({
    type: "message",
    id: (++count).toString(16).padStart(8, "0"),
    parentId: null,
    timestamp,
    message: {
      role: "assistant",
      provider: "acme",
      model: "small",
      content: [],
      usage,
      timestamp: Date.parse(timestamp),
    },
  });

async function openDirectory() {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-usage-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true }));
  const write = async (cwd: string, answers: number) => {
    const directory = join(agentDir, "sessions", cwd);
    await mkdir(directory, { recursive: true });
    const header = encodeLine({ type: "session", version: 3, id: `s${++count}`, timestamp, cwd: `/${cwd}` });
    const path = join(directory, `2026-03-02T12-00-00-000Z_s${count}.jsonl`);
    await writeFile(path, Buffer.concat([header, ...Array.from({ length: answers }, answer)]));
    return path;
  };
  let read = 0;
  const get = async () => {
    read = 0;
    const { rows } = await getUsage({ agentDir, by: "project", onRead: () => read++ });
    return { read, rows: rows.map(({ name, cost }) => [name, cost]) };
  };
  return { agentDir, write, get };
}

test("only logs that have changed are read again, and those that are gone do not count", async () => {
  const { agentDir, write, get } = await openDirectory();
  const first = await write("a", 3);
  const second = await write("a", 2);
  await write("b", 1);
  const all = [
    ["/a", 5],
    ["/b", 1],
  ];
  expect(await get()).toEqual({ read: 3, rows: all });
  expect(await get()).toEqual({ read: 0, rows: all });
  expect((await stat(join(agentDir, "sessions/a/usage.json"))).mode & 0o777).toBe(0o600);
  await appendFile(first, answer());
  expect(await get()).toEqual({
    read: 1,
    rows: [
      ["/a", 6],
      ["/b", 1],
    ],
  });
  await rm(second);
  expect(await get()).toEqual({
    read: 0,
    rows: [
      ["/a", 4],
      ["/b", 1],
    ],
  });
  expect(await readFile(join(agentDir, "sessions/a/usage.json"), "utf8")).not.toContain(second.slice(-12));
});

test.each(["", "{", "null", '{"format":"tau usage 0","sessions":[]}'])(
  "a cache with %j is made again",
  async (text) => {
    const { agentDir, write, get } = await openDirectory();
    await write("a", 3);
    await get();
    await writeFile(join(agentDir, "sessions/a/usage.json"), text);
    expect(await get()).toEqual({ read: 1, rows: [["/a", 3]] });
  },
);

test("a log that is damaged, and files that are no sessions, cost nothing but themselves", async () => {
  const { agentDir, write, get } = await openDirectory();
  const damaged = await write("a", 2);
  await appendFile(damaged, '{"type":"message","id"\n{"torn');
  await mkdir(join(agentDir, "sessions/a/directory.jsonl"));
  await writeFile(join(agentDir, "sessions/a/note.jsonl"), "hello\n");
  await writeFile(join(agentDir, "sessions/file"), "");
  expect((await get()).rows).toContainEqual(["/a", 2]);
});

test("without sessions there is no usage, and nothing is written", async () => {
  const { agentDir, get } = await openDirectory();
  expect(await get()).toEqual({ read: 0, rows: [] });
  await expect(stat(join(agentDir, "sessions"))).rejects.toMatchObject({ code: "ENOENT" });
});
