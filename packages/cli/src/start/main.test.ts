import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../commands/index.ts";
import { exitCodes } from "../process/exit-codes.ts";
import { run as runIn, temporaryDirectory } from "../../test/kit.ts";
import { version } from "./version.ts";

const run = async (args: string[]) => {
  const directory = await temporaryDirectory();
  return await runIn({ directory, agentDir: directory }, args);
};

test("the version is that of the package", async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8"));
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
  ["sesions list --all", /no command sesions\. Did you mean sessions\?/],
  ["--hlep", /no option --hlep\. Did you mean "--help"\?/],
])("%s is a usage error that helps", async (typed, text) => {
  const { code, err, out } = await run(typed.split(" "));
  expect(code).toBe(exitCodes.usage);
  expect(err).toMatch(text);
  expect(out).toBe("");
});

test.each(["hello", "confirm", "heal", "summarise", "sessionless"])(
  "%s alone is not taken for a misspelled command",
  async (word) => {
    expect((await run([word])).err).not.toContain("no command");
  },
);

test.each(["dem", "demoo", "dmeo", "demi", "sesions", "modles", "doctr", "hepl"])(
  "%s is taken for a misspelled command",
  async (word) => {
    expect((await run([word])).err).toContain("no command");
  },
);

test("an error of the system is reported in a sentence with the path and the reason", async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, "sessions");
  writeFileSync(file, "no directory");
  const { code, err } = await runIn({ directory, agentDir: directory }, ["sessions", "list", "--session-dir", file]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toBe(`tau sessions: ${file} cannot be used: not a directory (ENOTDIR).\n`);
});
