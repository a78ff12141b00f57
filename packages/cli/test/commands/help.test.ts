import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { extraTopics, pages } from "../../src/commands/pages.ts";
import { run as runIn, temporaryDirectory } from "../kit.ts";

const run = async (...args: string[]) => {
  const directory = await temporaryDirectory();
  return await runIn({ directory, agentDir: join(directory, "none") }, args);
};

test("help without a topic is the same as --help", async () => {
  expect((await run("help")).out).toBe((await run("--help")).out);
});

test.each(commands)("help $name and $name --help show all usage lines", async ({ name, usage, summary }) => {
  const { code, out } = await run("help", name);
  expect(code).toBe(exitCodes.done);
  expect(out).toContain(`tau ${name}: ${summary}`);
  for (const line of usage) for (const part of line.split(/ {2,}/)) expect(out).toContain(part);
  const own = await run(name, "--help");
  expect(own.code).toBe(exitCodes.done);
  expect(out.startsWith(own.out)).toBe(true);
});

test.each([
  ["keys", "OPENAI_API_KEY"],
  ["models", "--list-models [SEARCH]"],
  ["sessions", "--continue"],
  ["exit-codes", "130"],
])("help %s mentions %s", async (topic, word) => {
  const { code, out } = await run("help", topic);
  expect(code).toBe(exitCodes.done);
  expect(out).toContain(word);
});

test("an unknown topic gets a suggestion, or the list of topics", async () => {
  expect(await run("help", "exit-code")).toEqual({
    code: exitCodes.usage,
    out: "",
    err: 'tau help: There is no topic "exit-code". Did you mean "exit-codes"?\n',
  });
  expect((await run("help", "zzzzzzzzzzzz")).err).toContain("The topics are: sessions, stats, models,");
});

test("--help lists every topic", async () => {
  const { out } = await run("--help");
  const listed = out
    .split("Topics (tau help TOPIC shows one):\n")[1]!
    .split("\n\n")[0]!
    .split(/,\s+|\s+/)
    .filter((name) => name !== "");
  expect(listed).toEqual([...extraTopics, ...pages.map(({ name }) => name)]);
});

test("a page that is not installed is an error that says so", async () => {
  expect(await run("help", "first-hour")).toMatchObject({
    code: exitCodes.usage,
    err: "tau help: first-hour.md is not installed. Install tau again.\n",
  });
});
