import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSessionArgs } from "../src/start/args.ts";
import { createModelWorkspace, run, textReply } from "./kit.ts";

const profiles = { big: { defaultModel: "acme/large" }, little: { defaultModel: "acme/small" } };

async function ask(args: readonly string[]) {
  const workspace = await createModelWorkspace([textReply("Yes.")]);
  const { agentDir, directory, server } = workspace;
  await mkdir(join(agentDir, "profiles"));
  await mkdir(join(directory, ".tau", "profiles"), { recursive: true });
  for (const [name, settings] of Object.entries(profiles))
    await writeFile(join(agentDir, "profiles", `${name}.json`), JSON.stringify(settings));
  await writeFile(join(directory, ".tau", "profiles", "theirs.json"), JSON.stringify(profiles.big));
  const before = await readFile(join(agentDir, "settings.json"), "utf8");
  const { code, err } = await run(workspace, [...args, "-p", "Hello"]);
  expect(await readFile(join(agentDir, "settings.json"), "utf8")).toBe(before);
  return { code, err, asked: server.requests.map(({ body }) => (body as { model: string }).model) };
}

test.each([
  [["--set", "defaultModel=acme/large"], "large"],
  [["--set=defaultModel=acme/large"], "large"],
  [["--set", 'defaultModel="acme/large"'], "large"],
  [["--set", "defaultModel=acme/large", "--set", "defaultModel=acme/small"], "small"],
  [["--profile", "big"], "large"],
  [["--profile", "big", "--set", "defaultModel=acme/small"], "small"],
  [["--set", "defaultModel=acme/small", "--profile", "big"], "small"],
  [["--profile", "little", "--model", "acme/large"], "large"],
  [["--set", "defaultModel=acme/large", "--model", "acme/small"], "small"],
])("tau %j asks %s, and writes no settings", async (args, model) => {
  expect(await ask(args)).toMatchObject({ code: 0, asked: [model] });
});

test.each([
  [["--set", "defaultModl=x"], /no setting "defaultModl". Did you mean "defaultModel"/],
  [["--set", "defaultModel"], /--set KEY=VALUE/],
  [["--set", "=x"], /--set KEY=VALUE/],
  [["--set", "retry.maxRetries=many"], /--set retry\.maxRetries: .*retry\.maxRetries/],
  [["--set", "__proto__.x=1"], /no setting/],
  [["--profile", "theirs"], /no profile "theirs"/],
  [["--profile", "../agent/settings"], /cannot be a profile/],
  [["--profile", "safe"], /--policy safe/],
])("tau %j is refused before anything is sent", async (args, message) => {
  expect(await ask(args)).toEqual({ code: 2, asked: [], err: expect.stringMatching(message) });
});

test.each([
  [["--set", "theme=5"], "theme", "5"],
  [["--set", "hideThinkingBlock=true"], "hideThinkingBlock", true],
  [["--set", 'defaultTools=["read"]'], "defaultTools", ["read"]],
])("a value is JSON where that fits the setting, else text: %j", async (args, key, value) => {
  const { parseValue } = await import("../src/commands/config-keys.ts");
  expect(parseValue(key, args[1]!.slice(key.length + 1))).toEqual(value);
});

test("tools that are set for a run are those of the session", async () => {
  const workspace = await createModelWorkspace([textReply("Yes.")]);
  await run(workspace, ["--set", 'defaultTools=["read"]', "-p", "Hello"]);
  const [{ body }] = workspace.server.requests as unknown as [{ body: { tools: { function: { name: string } }[] } }];
  expect(body.tools.map((tool) => tool.function.name)).toEqual(["read"]);
});

test.each(["--mode=rpc", "--gateway", "--export=x", "--list-models"])("a run with %s takes no settings", (flag) => {
  for (const own of [
    ["--set", "theme=dark"],
    ["--profile", "big"],
  ]) {
    const message = expect.stringContaining("do not go together");
    expect(parseSessionArgs([flag, ...own])).toMatchObject({ kind: "invalid", message });
  }
});

test("names of profiles and settings are completed, and values of settings that have few", async () => {
  const workspace = await createModelWorkspace([]);
  await mkdir(join(workspace.agentDir, "profiles"));
  await writeFile(join(workspace.agentDir, "profiles", "big.json"), "{}");
  const complete = async (...words: string[]) => (await run(workspace, ["__complete", "zsh", ...words])).out;
  expect(await complete("--profile", "")).toBe("big\t\n");
  expect(await complete("--profile=b")).toBe("--profile=big\t\n");
  expect(await complete("--set", "hideThi")).toBe("hideThinkingBlock=\t\n");
  expect(await complete("--set", "hideThinkingBlock=t")).toBe("hideThinkingBlock=true\t\n");
});
