import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createPromptHistory, parsePrompts } from "./prompt-history.ts";

const at = Date.parse("2026-11-19T12:00:00Z");

function createDirectory() {
  const agentDir = mkdtempSync(join(tmpdir(), "tau-history-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
  const open = (redact: (text: string) => string = (text) => text) =>
    createPromptHistory({ agentDir, redact: async (text) => redact(text), now: () => at });
  return { agentDir, file: join(agentDir, "history.jsonl"), open };
}

test("prompts of one process are there in the next, in their order, in a file that only its owner may read", async () => {
  const { file, open } = createDirectory();
  const history = open();
  expect(await history.list()).toEqual([]);
  void history.append("first", "/a");
  void history.append("second\nof two lines \u2028 \ud83d", "/b");
  await history.settle();
  expect(await open().list()).toEqual([
    { text: "first", cwd: "/a", at: "2026-11-19T12:00:00.000Z" },
    { text: "second\nof two lines \u2028 \ud83d", cwd: "/b", at: "2026-11-19T12:00:00.000Z" },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a file that others may read is closed to them with the next prompt", async () => {
  const { file, open } = createDirectory();
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  await open().append("mine", "/a");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a secret is not kept", async () => {
  const { file, open } = createDirectory();
  await open((text) => text.replaceAll("hunter2hunter2", "[secret]")).append("log in with hunter2hunter2", "/a");
  expect(readFileSync(file, "utf8")).toContain("log in with [secret]");
  expect(readFileSync(file, "utf8")).not.toContain("hunter2");
});

test("a prompt whose secrets cannot be removed is not kept, and the next one is", async () => {
  const { open } = createDirectory();
  const history = open((text) => {
    if (text === "first") throw new Error("The keys cannot be read.");
    return text;
  });
  await expect(history.append("first", "/a")).rejects.toThrow("The keys cannot be read.");
  await history.append("second", "/a");
  expect((await history.list()).map(({ text }) => text)).toEqual(["second"]);
});

test("a line that a killed process did not finish costs that line alone", async () => {
  const { file, open } = createDirectory();
  await open().append("before", "/a");
  appendFileSync(file, '{"text":"cut in the mid');
  await open().append("after", "/a");
  expect((await open().list()).map(({ text }) => text)).toEqual(["before", "after"]);
});

test("a file cut at any byte gives the prompts whose lines are whole", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", minLength: 1 }), { maxLength: 8 }), fc.nat(), (texts, cut) => {
      const lines = texts.map((text) => `${JSON.stringify({ text, cwd: "/a", at: "" })}\n`);
      const content = Buffer.from(lines.join(""));
      const prefix = content.subarray(0, cut % (content.length + 1)).toString("utf8");
      const whole = prefix.split("\n").length - 1;
      const visible = (list: readonly string[]) => list.filter((text) => text.trim() !== "");
      const parsed = parsePrompts(prefix).map(({ text }) => text);
      // The last line may lack its line feed alone.
      expect([visible(texts.slice(0, whole)), visible(texts.slice(0, whole + 1))]).toContainEqual(parsed);
    }),
    { numRuns: 30 },
  );
});

test("damaged and foreign lines are left out", () => {
  const lines = ["", "{", "[]", "null", '"text"', '{"text":5}', '{"text":"  "}', '{"text":"kept"}', "\0\0\0"];
  expect(parsePrompts(lines.join("\n"))).toEqual([{ text: "kept", cwd: "", at: "" }]);
});

test("of too many prompts the latest are kept, and a long one is not kept at all", async () => {
  const { file, open } = createDirectory();
  const lines = Array.from({ length: 11_500 }, (_unused, index) => `{"text":"prompt ${index}","cwd":"/a","at":""}\n`);
  writeFileSync(file, lines.join(""));
  const prompts = await open().list();
  expect(prompts).toHaveLength(10_000);
  expect(prompts[0]?.text).toBe("prompt 1500");
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(10_001);
  await open().append("x".repeat(50_001), "/a");
  expect((await open().list()).at(-1)?.text).toBe("prompt 11499");
});

test("where the directory cannot be written, the prompt is refused with a reason", async () => {
  const { agentDir, file } = createDirectory();
  mkdirSync(file);
  const history = createPromptHistory({ agentDir, redact: async (text) => text, now: () => at });
  await expect(history.append("mine", "/a")).rejects.toThrow(/EISDIR|directory/);
  await expect(history.list()).rejects.toThrow(/EISDIR|directory|regular/);
});

test("several that write at the same time lose no prompt, while one of them removes the oldest", async () => {
  const { file, open } = createDirectory();
  const old = Array.from({ length: 11_000 }, (_unused, index) => `{"text":"old ${index}","cwd":"/a","at":""}\n`);
  writeFileSync(file, old.join(""));
  const names = ["one", "two", "three"];
  const listOwn = (name: string) => Array.from({ length: 10 }, (_unused, index) => `${name} ${index}`);
  await Promise.all(
    names.map(async (name) => {
      const history = open();
      for (const text of listOwn(name)) {
        await history.append(text, "/a");
        await history.list();
      }
    }),
  );
  const texts = parsePrompts(readFileSync(file, "utf8")).map(({ text }) => text);
  expect(texts.length).toBeLessThan(11_000);
  for (const name of names) expect(texts.filter((text) => text.startsWith(`${name} `))).toEqual(listOwn(name));
});
