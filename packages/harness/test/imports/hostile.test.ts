/** Files that are damaged, huge, or not what they seem: each is named or counted, and none ends the import. */
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { convertClaudeCode } from "../../src/imports/claude-code.ts";
import { readLines } from "../../src/imports/read-lines.ts";
import { createDesk, describeMessages, open, readMessages, readSampleLines, sampleFiles } from "./desk.ts";

const tools = Object.keys(sampleFiles) as (keyof typeof sampleFiles)[];

test.each(tools)("%s: a last line that is half written is noted, and comes with the next import", async (tool) => {
  const desk = createDesk();
  const lines = readSampleLines(tool);
  const cut = lines.findLastIndex((line) => line.includes("And again?") && line.includes(`"role":"user"`));
  desk.write(tool, sampleFiles[tool], [...lines.slice(0, cut), lines[cut]!.slice(0, -20)], "");
  const [first] = (await desk.run()).outcomes;
  expect(first).toMatchObject({
    kind: "imported",
    notes: [{ count: 1, message: expect.stringContaining("incomplete") }],
  });
  desk.write(tool, sampleFiles[tool], lines);
  expect((await desk.run()).outcomes[0]).toMatchObject({ kind: "extended", notes: [] });
  const { path } = first as { path: string };
  expect(await readMessages(await open(path, desk.agentDir))).toHaveLength(8);
});

test.each(tools)("%s: any prefix of a session is imported, and the rest with the next import", async (tool) => {
  const whole = readSampleLines(tool).join("\n");
  const expected = createDesk();
  expected.copySample(tool);
  const { path } = (await expected.run()).outcomes[0] as { path: string };
  const messages = describeMessages(await readMessages(await open(path, expected.agentDir)));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: whole.length - 1 }), async (length) => {
      const desk = createDesk();
      desk.write(tool, sampleFiles[tool], [whole.slice(0, length)], "");
      expect(["imported", "empty", "failed"]).toContain((await desk.run()).outcomes[0]!.kind);
      desk.write(tool, sampleFiles[tool], [whole]);
      const [outcome] = (await desk.run()).outcomes as { path: string }[];
      expect(describeMessages(await readMessages(await open(outcome!.path, desk.agentDir)))).toEqual(messages);
    }),
    { numRuns: 15 },
  );
});

test.each(tools)("%s: values of wrong types in any line cost that line at most", async (tool) => {
  const lines = readSampleLines(tool).map((line) => JSON.parse(line) as Record<string, unknown>);
  const values = [null, 1, "x", [], {}, [[null]], { content: 5 }, -1e300, true];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(lines.length - 1), fc.nat(20), fc.constantFrom(...values)), {
        minLength: 1,
        maxLength: 8,
      }),
      async (changes) => {
        const changed = structuredClone(lines);
        for (const [line, field, value] of changes) {
          const target = changed[line]!;
          const nested = (target["message"] ?? target["payload"]) as Record<string, unknown> | undefined;
          const owner = nested && typeof nested === "object" && field % 2 === 0 ? nested : target;
          const names = Object.keys(owner);
          owner[names[field % names.length]!] = structuredClone(value);
        }
        const desk = createDesk();
        desk.write(tool, sampleFiles[tool], changed);
        const { outcomes } = await desk.run();
        expect(outcomes).toHaveLength(1);
        const [outcome] = outcomes;
        expect(["imported", "empty"]).toContain(outcome!.kind);
        if (outcome!.kind === "imported") await readMessages(await open(outcome!.path, desk.agentDir));
        expect((await desk.run()).outcomes[0]!.kind).toMatch(/unchanged|empty/);
      },
    ),
    // A header that is an entry, whose id is longer than those of ours.
    {
      numRuns: 40,
      examples: [
        [
          [
            [0, 0, "x"],
            [1, 0, null],
          ],
        ],
      ],
    },
  );
});

test("links, directories and files that are in the way are named, and the rest is imported", async () => {
  const desk = createDesk();
  desk.copySample("claude-code");
  const projects = join(desk.root, "claude-code", "projects");
  writeFileSync(join(desk.root, "secret.jsonl"), "{}\n");
  symlinkSync(join(desk.root, "secret.jsonl"), join(projects, "-home-user-project", "linked.jsonl"));
  symlinkSync(projects, join(projects, "circle"));
  mkdirSync(join(projects, "-home-user-project", "directory.jsonl"));
  mkdirSync(join(desk.root, "codex"));
  writeFileSync(join(desk.root, "codex", "sessions"), "not a directory");
  const { outcomes, skipped } = await desk.run();
  expect(outcomes.map(({ kind }) => kind)).toEqual(["imported"]);
  expect(skipped.map(({ path, reason }) => `${path.slice(desk.root.length + 1)} ${reason}`).toSorted()).toEqual([
    "claude-code/projects/-home-user-project/linked.jsonl is a link, which is not followed",
    "claude-code/projects/circle is a link, which is not followed",
    "codex/sessions cannot be read (ENOTDIR)",
  ]);
});

test("opencode: files that are damaged are named or counted, and the rest is imported", async () => {
  const desk = createDesk();
  const write = (path: string, text: string) => desk.write("opencode", `storage/${path}`, [text]);
  write("session/p/ses_1.json", JSON.stringify({ directory: "/p", title: "T", time: { created: 1, updated: 2 } }));
  write("session/p/ses_2.json", "{ half");
  write("message/ses_1/msg_1.json", JSON.stringify({ role: "user" }));
  write("message/ses_1/msg_2.json", "{ half");
  write("part/msg_1/prt_1.json", JSON.stringify({ type: "text", text: "hello" }));
  write("part/msg_1/prt_2.json", "");
  const { outcomes, skipped } = await desk.run();
  expect(outcomes).toMatchObject([
    { kind: "imported", notes: [{ count: 1, message: expect.stringContaining("unknown kind") }] },
  ]);
  expect(skipped.map(({ path }) => path.slice(desk.root.length))).toEqual(["/opencode/storage/session/p/ses_2.json"]);
});

test("a file without messages, or of another program, becomes no session", async () => {
  const desk = createDesk();
  desk.write("claude-code", "projects/-p/11111111-2222-4333-8444-555555555555.jsonl", [
    { type: "summary", summary: "x" },
  ]);
  desk.write("pi", "sessions/--p--/notes.jsonl", ["hello", "1", "[]"]);
  desk.write("codex", "sessions/2025/05/06/rollout-2025-05-06T07-08-09-0196a1b2-0000-4000-8000-000000000000.jsonl", [
    "\0\0\0",
  ]);
  expect((await desk.run()).outcomes).toEqual([{ kind: "empty" }, { kind: "empty" }, { kind: "empty" }]);
});

test("a line that is too long is left out and counted, in a file of any size, with one line in memory at a time", async () => {
  const desk = createDesk();
  const path = desk.write("pi", "big.jsonl", [""], "");
  const file = openSync(path, "w");
  const chunk = Buffer.alloc(1024 * 1024, "x");
  writeSync(file, "first\n");
  for (let count = 0; count < 40; count++) writeSync(file, chunk);
  writeSync(file, "\nlast");
  closeSync(file);
  const lines = [];
  for await (const line of readLines(path)) lines.push({ ...line, text: line.text?.slice(0, 10) });
  expect(lines).toEqual([
    { number: 1, text: "first", isOpen: false },
    { number: 2, text: undefined, isOpen: false },
    { number: 3, text: "last", isOpen: true },
  ]);
});

test("an id that leads elsewhere, and a session that is there already, write nothing", async () => {
  const desk = createDesk();
  desk.write("pi", "sessions/--p--/2025-01-01T00-00-00-000Z_..jsonl", ["{}"]);
  desk.write("claude-code", "projects/-p/.hidden.jsonl", ["{}"]);
  expect((await desk.run()).outcomes).toEqual([]);
  desk.copySample("pi");
  const { path } = (await desk.run()).outcomes[0] as { path: string };
  const other = createDesk();
  other.copySample("pi");
  const header = {
    type: "session",
    version: 3,
    id: "01a1ec68-c947-737a-aa98-b90e865b97cc",
    timestamp: "2026-01-01T00:00:00.000Z",
    cwd: "/home/user/project",
  };
  const mine = other.write("tau", path.slice(desk.agentDir.length + 1), [
    header,
    { type: "custom", id: "12345678", parentId: null, timestamp: header.timestamp, customType: "mine" },
  ]);
  const before = readFileSync(mine);
  expect((await other.run()).outcomes).toEqual([{ kind: "continued", path: mine }]);
  expect(readFileSync(mine).equals(before)).toBe(true);
});

/** Each of them has 100 kB. */
const longLines = process.env["TAU_LONG"] ? 1_000 : 400;

test(`a session of ${longLines / 10} MB is converted with a few of its lines in memory`, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const measure = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const desk = createDesk();
  const path = desk.write("claude-code", "projects/-p/11111111-2222-4333-8444-555555555555.jsonl", [""], "");
  const file = openSync(path, "w");
  const text = "x".repeat(100_000);
  for (let index = 0; index < longLines; index++) {
    const line = {
      type: "user",
      uuid: `u${index}`,
      parentUuid: index === 0 ? null : `u${index - 1}`,
      cwd: "/p",
      message: { content: `${index} ${text}` },
    };
    writeSync(file, `${JSON.stringify(line)}\n`);
  }
  closeSync(file);
  const before = measure();
  let [count, peak] = [0, 0];
  for await (const entry of convertClaudeCode(path).entries) {
    if (++count % 100 === 0) peak = Math.max(peak, measure());
    expect(entry.type).toBe("message");
  }
  expect(count).toBe(longLines);
  expect(peak - before).toBeLessThan(20 * 1024 * 1024);
  const { outcomes } = await desk.run();
  expect(outcomes).toMatchObject([{ kind: "imported", entries: longLines }]);
});
