import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "./commands/index.ts";
import { exitCodes } from "./exit-codes.ts";
import { run as runIn, temporaryDirectory } from "../test/kit.ts";
import { version } from "./version.ts";

const run = async (args: string[], signal = new AbortController().signal) => {
  const directory = await temporaryDirectory();
  return await runIn({ directory, agentDir: directory }, args, { signal });
};

test("the version is the package's", async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
  expect(version).toBe(manifest.version);
  expect(await run(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test.each([[[]], [["--help"]], [["-h"]]])("%j shows every command and the exit codes", async (args) => {
  const { code, out } = await run(args);
  expect(code).toBe(exitCodes.done);
  for (const { name, summary } of commands) expect(out).toMatch(new RegExp(`  ${name} +${summary}`));
  expect(out).toContain("130 interrupted");
});

test.each([
  ["dmeo", /no command dmeo\. Did you mean demo\?/],
  ["--hlep", /no option --hlep\. Did you mean --help\?/],
])("%s is a usage error that helps", async (name, text) => {
  const { code, err, out } = await run([name]);
  expect(code).toBe(exitCodes.usage);
  expect(err).toMatch(text);
  expect(out).toBe("");
});

test("the demo thinks, calls a tool and answers, offline", async () => {
  const { code, out, err } = await run(["demo"]);
  expect(code).toBe(exitCodes.done);
  expect(err).toBe("");
  expect(out.split("\n").filter(Boolean)).toEqual([
    "you What is the weather in Samarkand?",
    "turn 1",
    "thinks A question about the weather. There is a tool for that.",
    'calls weather {"place":"Samarkand"}',
    expect.stringMatching(/^ends toolUse/),
    "tool weather answers: 21 °C, sunny",
    "turn 2",
    expect.stringMatching(/^says It is 21 °C/),
    expect.stringMatching(/^ends stop/),
  ]);
});

test("the demo takes no arguments", async () => {
  expect(await run(["demo", "--bogus"])).toMatchObject({ code: exitCodes.usage, out: "" });
});

test("an interrupted demo says so with its exit code", async () => {
  expect((await run(["demo"], AbortSignal.abort())).code).toBe(exitCodes.interrupted);
});
