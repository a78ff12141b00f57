import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { settingsSchema } from "@tau/config/settings";
import { allFeatures } from "@tau/features";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run, temporaryDirectory, type Workspace } from "../kit.ts";

const getFile = ({ agentDir }: Workspace) => join(agentDir, "settings.json");

test.each([
  ["retry.maxRetries", "7", 7],
  ["retry.enabled", "false", false],
  ["defaultModel", "gpt-5", "gpt-5"],
  ["defaultModel", "4", "4"],
  ["defaultModel", '"4"', "4"],
  ["enabledModels", '["anthropic/*"]', ["anthropic/*"]],
  ["compaction", '{"enabled": false}', { enabled: false }],
])("set %s %s writes the file, and get reads it back", async (key, written, value) => {
  const workspace = await createWorkspace();
  expect((await run(workspace, ["config", "set", key, written])).code).toBe(exitCodes.done);
  const [outer = "", inner] = key.split(".");
  const file = JSON.parse(await readFile(getFile(workspace), "utf8")) as Record<string, Record<string, unknown>>;
  expect(inner === undefined ? file[outer] : file[outer]?.[inner]).toEqual(value);
  const got = JSON.parse((await run(workspace, ["config", "get", key, "--json"])).out) as unknown;
  if (typeof value === "object" && !Array.isArray(value)) expect(got).toMatchObject(value);
  else expect(got).toEqual(value);
});

test("keys are never printed, whether they are set, listed or asked for", async () => {
  const workspace = await createWorkspace();
  const key = "a-secret-key-1-of-lab-wxyz";
  const outputs = [];
  for (const args of [
    ["set", "apiKeys", JSON.stringify({ lab: [key, "$LAB_KEY"] })],
    ["get"],
    ["get", "--json"],
    ["get", "apiKeys"],
    ["get", "apiKeys.lab", "--json"],
  ]) {
    const { out, err } = await run(workspace, ["config", ...args]);
    outputs.push(out + err);
  }
  expect(await readFile(getFile(workspace), "utf8")).toContain(key);
  for (const output of outputs) expect(output).not.toContain(key);
  for (const output of outputs) expect(output).toContain("…wxyz");
  expect(outputs.at(-1)).toContain("$LAB_KEY");
});

test("set keeps comments, settings of a project win, and unset removes a setting", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir);
  await writeFile(getFile(workspace), '{\n  // mine\n  "defaultModel": "a"\n}\n');
  await run(workspace, ["config", "set", "retry.maxRetries", "5"]);
  expect(await readFile(getFile(workspace), "utf8")).toContain("// mine");
  // The model of a project counts only when the project is trusted, and the user's own change does not end that.
  await run(workspace, ["trust"]);
  await run(workspace, ["config", "set", "--project", "defaultModel", "b"]);
  expect(JSON.parse(await readFile(join(workspace.directory, ".tau", "settings.json"), "utf8"))).toEqual({
    defaultModel: "b",
  });
  expect((await run(workspace, ["config", "get", "defaultModel"])).out).toBe("b\n");
  const { out } = await run(workspace, ["config", "get"]);
  expect(out).toMatch(/^defaultModel +b +project$/m);
  expect(out).toMatch(/^retry\.maxRetries +5 +you$/m);
  expect(out).toMatch(/^retry\.baseDelayMs +2000 +default$/m);
  await run(workspace, ["config", "unset", "--project", "defaultModel"]);
  expect((await run(workspace, ["config", "get", "defaultModel"])).out).toBe("a\n");
});

test("a mistake names the setting, suggests a name, and does not change the file", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["config", "set", "defaultModel", "a"]);
  const before = await readFile(getFile(workspace), "utf8");
  expect(await run(workspace, ["config", "set", "retry.maxRetries", "often"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringMatching(/^tau config: .*retry\.maxRetries.*\n$/),
  });
  for (const verb of [["get"], ["set", "x"], ["unset"]]) {
    const [word = "", ...value] = verb;
    const result = await run(workspace, ["config", word, "retry.maxRetrys", ...value]);
    expect(result).toMatchObject({
      code: exitCodes.usage,
      err: expect.stringContaining('Did you mean "retry.maxRetries"'),
    });
  }
  expect(await readFile(getFile(workspace), "utf8")).toBe(before);
});

test("a damaged file is reported and never overwritten, and an unwritable directory fails in one line", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir);
  await writeFile(getFile(workspace), '{\n  "defaultModel": \n');
  const got = await run(workspace, ["config", "get", "defaultThinkingLevel"]);
  expect(got).toMatchObject({ code: exitCodes.done, out: "medium\n" });
  expect(got.err).toContain("settings.json:");
  const set = await run(workspace, ["config", "set", "defaultModel", "b"]);
  expect(set).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining("Correct the file first") });
  expect(await readFile(getFile(workspace), "utf8")).toBe('{\n  "defaultModel": \n');
  const agentDir = join(await temporaryDirectory(), "a-file");
  await writeFile(agentDir, "");
  const failed = await run({ ...workspace, agentDir }, ["config", "set", "defaultModel", "b"]);
  expect(failed.code).toBe(exitCodes.failed);
  expect(failed.err.trimEnd().split("\n").at(-1)).toMatch(/^tau config: .*a-file/);
});

async function createEditor(content: string): Promise<string> {
  const path = join(await temporaryDirectory(), "editor.sh");
  await writeFile(path, `#!/bin/sh\ncat > "$2" <<'EOT'\n${content}\nEOT\n[ "$1" = --wait ]\n`);
  await chmod(path, 0o700);
  return `${path} --wait`;
}

test("edit opens the file in the user's editor and checks it afterwards", async () => {
  const workspace = await createWorkspace();
  const good = await run(workspace, ["config", "edit"], {
    env: { EDITOR: await createEditor('{"defaultModel": "edited"}'), PATH: "/usr/bin:/bin" },
  });
  expect(good).toMatchObject({ code: exitCodes.done, err: `${getFile(workspace)} has no errors.\n` });
  expect((await stat(getFile(workspace))).mode & 0o077).toBe(0);
  expect((await run(workspace, ["config", "get", "defaultModel"])).out).toBe("edited\n");
  const bad = await run(workspace, ["config", "edit"], {
    env: { EDITOR: "false", VISUAL: await createEditor('{\n"retry": {"maxRetries": "often"}}'), PATH: "/usr/bin:/bin" },
  });
  expect(bad.code).toBe(exitCodes.failed);
  expect(bad.err).toMatch(/settings\.json:2:\d+: .*retry\.maxRetries/);
  expect((await run(workspace, ["config", "edit"])).err).toContain("Set VISUAL or EDITOR");
  const aborted = await run(workspace, ["config", "edit"], { env: { EDITOR: "false", PATH: "/usr/bin:/bin" } });
  expect(aborted).toMatchObject({
    code: exitCodes.failed,
    err: expect.stringContaining('The editor "false" ended with 1.'),
  });
});

test("path and schema print only the path and the schema", async () => {
  const workspace = await createWorkspace();
  expect((await run(workspace, ["config", "path"])).out).toBe(`${getFile(workspace)}\n`);
  expect((await run(workspace, ["config", "path", "--project"])).out).toBe(
    `${join(workspace.directory, ".tau/settings.json")}\n`,
  );
  expect(JSON.parse((await run(workspace, ["config", "schema"])).out)).toEqual(
    JSON.parse(JSON.stringify(settingsSchema(allFeatures))),
  );
});

test.each([
  ["tools.excluded", "bash", `tau config set tools.excluded '["one","two"]'`],
  ["enabledModels", "sonnet", `tau config set enabledModels '["one","two"]'`],
  ["shellEnv", "A=b", `tau config set shellEnv '{"name":"value"}'`],
])("a list that is not typed as one, such as %s, shows an example", async (key, text, example) => {
  const { code, err } = await run(await createWorkspace(), ["config", "set", key, text]);
  expect(code).not.toBe(0);
  expect(err).toContain(`For example: ${example}`);
});
