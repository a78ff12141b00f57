/** Each recipe of docs/permissions.md is a settings file that does what its heading says. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { rm } from "node:fs/promises";
import { createPolicy, createSecretBroker } from "@tau/policy/internal";
import type { PolicyRequest } from "@tau/policy";
import type { WritingMode } from "@tau/protocol";
import { getSandboxSettings, getSessionPolicy } from "@tau/config/trust";
import { SettingsManager } from "@tau/config/settings";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/permissions.md"), "utf8");
const recipes = new Map(
  [...page.matchAll(/\n## ([^\n]+)\n(?:(?!\n## )[\s\S])*?```json\n([\s\S]*?)```/g)].map(([, name, json]) => [
    name!,
    json!,
  ]),
);
const directory = mkdtempSync(join(tmpdir(), "tau-recipes-"));
afterAll(() => rm(directory, { recursive: true }));

const cwd = "/src/app";
const home = "/home/me";

/** The settings of a recipe, read from a file, and the verdict on what the model wants with them. */
async function open(name: string) {
  const agentDir = join(directory, name.replaceAll(/\W/g, "-"));
  mkdirSync(agentDir);
  writeFileSync(join(agentDir, "settings.json"), recipes.get(name) ?? "");
  const settings = await SettingsManager.create(agentDir, agentDir, { watch: false });
  expect(settings.problems).toEqual([]);
  const getPolicy = () => getSessionPolicy(settings);
  const sandbox = getSandboxSettings(settings);
  const decide = createPolicy({
    rules: { roots: [cwd], home, agentDir: join(home, ".tau") },
    getPolicy,
    getMode: () => settings.get().policy.permissionMode as WritingMode,
    secrets: createSecretBroker({ policy: () => getPolicy().secretBroker, isOwnKey: () => false, env: {} }),
    context: { cwd, home, workspace: cwd },
    isSandboxed: async () => true,
    getNetwork: () => sandbox.network,
    getGrantedPaths: () => [],
    getTaint: async () => undefined,
    shell: undefined,
  });
  const judge = async (capability: PolicyRequest["capability"], target: PolicyRequest["target"]) =>
    (await decide({ subject: { kind: "model", sessionId: "s" }, capability, target })).kind;
  return {
    settings: settings.get(),
    sandbox,
    run: (command: string) => judge("exec", { kind: "command", command }),
    write: (path: string) => judge("write", { kind: "path", path }),
  };
}

/** Each recipe has a check here, and each check a recipe. */
const checks: Record<string, () => Promise<void>> = {
  async "Let it use npm"() {
    const { sandbox, run } = await open("Let it use npm");
    expect(sandbox.network).toEqual({ allow: ["registry.npmjs.org"] });
    expect(await run("npm test")).toBe("allow");
  },
  async "Let it push"() {
    const { run } = await open("Let it push");
    expect(await run("git push origin main")).toBe("allow");
    expect(await run("git push --force origin main && rm -rf /")).toBe("deny");
  },
  async "Ask before every edit"() {
    const { write, run } = await open("Ask before every edit");
    expect(await write("/src/app/a.ts")).toBe("ask");
    expect(await run("sed -i s/a/b/ a.ts")).toBe("ask");
    expect(await run("git diff")).toBe("allow");
  },
  async "Never ask"() {
    const { write, run, sandbox } = await open("Never ask");
    expect(sandbox.mode).toBe("required");
    expect(await write("/src/app/a.ts")).toBe("allow");
    expect(await run("sudo rm x")).toBe("allow");
    expect(await write("/etc/hosts")).toBe("deny");
    expect(await run("rm -rf /")).toBe("deny");
  },
  async "Only read"() {
    const { settings } = await open("Only read");
    expect(settings.tools.allowed).toEqual(["read", "grep", "find", "ls"]);
  },
  async "In CI"() {
    const { run, sandbox } = await open("In CI");
    expect(sandbox.mode).toBe("required");
    expect(await run("npm ci")).toBe("allow");
    expect(await run("npm test -- --run")).toBe("allow");
    expect(await run("sudo rm x")).toBe("deny");
  },
};

test("every recipe is checked", () => {
  expect([...recipes.keys()].toSorted()).toEqual(Object.keys(checks).toSorted());
});

test.each(Object.entries(checks))("%s", async (_name, check) => {
  await check();
});
