import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SettingsManager } from "../settings/settings-manager.ts";
import { getSandboxSettings, getSessionPolicy } from "./session-policy.ts";

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

async function open(user: object, project: object, { projectTrusted = true } = {}) {
  const directory = await mkdtemp(join(tmpdir(), "tau-policy-"));
  directories.push(directory);
  const [cwd, agentDir] = [join(directory, "project"), join(directory, "agent")];
  await mkdir(join(cwd, ".tau"), { recursive: true });
  await mkdir(agentDir);
  await writeFile(join(agentDir, "settings.json"), JSON.stringify(user));
  await writeFile(join(cwd, ".tau", "settings.json"), JSON.stringify(project));
  return { cwd, agentDir, settings: await SettingsManager.create(cwd, agentDir, { projectTrusted, watch: false }) };
}

test("a trusted project makes the policy and the sandbox stricter", async () => {
  const { settings } = await open(
    { policy: { denyCaps: [] } },
    { policy: { deny_caps: ["http"], exec_mediation: { deny_threshold: "high" } }, sandbox: "required" },
  );
  expect(settings.problems).toEqual([]);
  expect(getSessionPolicy(settings).denyCaps).toEqual(["http"]);
  expect(getSessionPolicy(settings).execMediation.denyThreshold).toBe("high");
  expect(getSandboxSettings(settings).mode).toBe("required");
});

test("a project loosens neither of them, with whatever it sets", async () => {
  const { settings } = await open(
    { sandbox: { mode: "required", network: "none" } },
    {
      policy: { profile: "permissive", denyCaps: [], perExtension: { mine: { allow: ["exec"] } } },
      sandbox: { mode: "off", network: "all", allowedPaths: ["/"], ports: [80] },
    },
  );
  expect(getSessionPolicy(settings)).toMatchObject({ mode: "prompt", denyCaps: ["exec", "env"] });
  expect(getSandboxSettings(settings)).toEqual({
    mode: "required",
    network: "none",
    allowedPaths: [],
    ports: [],
    maxMemoryFilesMb: 256,
    seatbelt: false,
  });
});

test("a project without trust has no say, and the settings that wait are reported", async () => {
  const { settings } = await open({}, { sandbox: { mode: "required" } }, { projectTrusted: false });
  expect(getSandboxSettings(settings).mode).toBe("auto");
  expect(settings.problems.map(({ kind }) => kind)).toEqual(["untrusted"]);
});

test("the paths of the user's sandbox begin at the directory of the user's file", async () => {
  const { agentDir, settings } = await open({ sandbox: { allowedPaths: ["shared"], timeout: 500 } }, {});
  expect(getSandboxSettings(settings)).toMatchObject({ allowedPaths: [join(agentDir, "shared")], timeoutMs: 500 });
});

test("a flag overrides the user's settings, but not what a project makes stricter", async () => {
  const { settings } = await open({}, { sandbox: "required", policy: { profile: "safe" } });
  expect(getSandboxSettings(settings, { mode: "off" }).mode).toBe("required");
  expect(getSessionPolicy(settings, "permissive").mode).toBe("strict");
});

test("a change of what the project restricts is published", async () => {
  const { cwd, settings } = await open({}, {});
  const changes: (readonly string[])[] = [];
  settings.subscribe(({ changed }) => changes.push(changed));
  await writeFile(join(cwd, ".tau", "settings.json"), JSON.stringify({ sandbox: "required" }));
  await settings.reload();
  expect(changes).toEqual([["sandbox"]]);
  await settings.close();
});

test("an error in the policy or the sandbox keeps a session from starting", async () => {
  for (const wrong of [{ sandbox: "requird" }, { policy: { mode: "lax" } }, { sandbox: { network: "some" } }]) {
    const { settings } = await open(wrong, {});
    expect(() => settings.mustBeWhole()).toThrow(/does not start/);
  }
});

test("the profile of a session's log makes its policy stricter, and never looser", () => {
  const settings = SettingsManager.inMemory({ policy: { profile: "balanced" } });
  const balanced = getSessionPolicy(settings);
  expect(getSessionPolicy(settings, undefined, ["safe"]).execMediation.denyThreshold).toBe("high");
  expect(getSessionPolicy(settings, "permissive", ["safe"]).mode).toBe("strict");
  expect(getSessionPolicy(settings, undefined, ["permissive"])).toEqual(balanced);
  expect(getSessionPolicy(settings, undefined, ["no such name"]).mode).toBe("strict");
});
