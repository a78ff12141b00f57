import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listProfiles, readProfile } from "./profile.ts";
import { SettingsManager } from "./settings-manager.ts";

function createDirectories() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-run-settings-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [agentDir, cwd] = [join(root, "agent"), join(root, "project")];
  mkdirSync(join(agentDir, "profiles"), { recursive: true });
  mkdirSync(join(cwd, ".tau"), { recursive: true });
  const write = (directory: string, settings: unknown) =>
    writeFileSync(join(directory, "settings.json"), JSON.stringify(settings));
  return {
    agentDir,
    cwd,
    setUser: (settings: unknown) => write(agentDir, settings),
    setProject: (settings: unknown) => write(join(cwd, ".tau"), settings),
    writeProfile: (name: string, text: string) => writeFileSync(join(agentDir, "profiles", `${name}.json`), text),
    open: (...runSettings: { source: string; values: unknown; directory: string }[]) =>
      SettingsManager.create(cwd, agentDir, { runSettings, watch: false }),
  };
}

const given = (values: unknown, directory = "/") => ({ source: "--set", values, directory });

test("settings of a run apply over the files, each over the ones before it, and null is the default", async () => {
  const { setUser, setProject, open } = createDirectories();
  setUser({ theme: "dark", retry: { maxRetries: 1, baseDelayMs: 7 } });
  setProject({ retry: { maxRetries: 2 } });
  const manager = await open(given({ retry: { maxRetries: 3 } }), given({ retry: { maxRetries: 4 }, theme: null }));
  expect(manager.get().retry).toMatchObject({ maxRetries: 4, baseDelayMs: 7 });
  expect(manager.get().theme).toBe((await SettingsManager.create("/", "/none", { watch: false })).get().theme);
  expect(manager.getRun()).toEqual({ retry: { maxRetries: 4 }, theme: null });
  expect(manager.getGlobal()).toEqual({ theme: "dark", retry: { maxRetries: 1, baseDelayMs: 7 } });
});

test("a change of a file does not write settings of the run, which still apply afterwards", async () => {
  const { setUser, open, agentDir } = createDirectories();
  setUser({ theme: "dark" });
  const manager = await open(given({ theme: "light" }));
  await manager.update("global", { theme: "other", hideThinkingBlock: true });
  expect(JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"))).toEqual({
    theme: "other",
    hideThinkingBlock: true,
  });
  expect(manager.get()).toMatchObject({ theme: "light", hideThinkingBlock: true });
});

test("settings of a run may be those that only the user has, and a project still restricts them", async () => {
  const { setProject, open } = createDirectories();
  setProject({ policy: { profile: "safe" } });
  const manager = await open(given({ defaultProjectTrust: "never", policy: { profile: "permissive" } }));
  expect(manager.get().defaultProjectTrust).toBe("never");
  await manager.setProjectTrusted(true);
  expect(manager.get().policy.profile).toBe("permissive");
  expect(manager.getRestrictions()).toEqual({ policy: { profile: "safe" } });
});

test("paths in settings of a run are relative to their own directory", async () => {
  const { open, agentDir } = createDirectories();
  const manager = await open(given({ skills: ["mine"] }, join(agentDir, "profiles")));
  expect(manager.getGiven("global", "skills")).toEqual([join(agentDir, "profiles", "mine")]);
});

test.each([
  [{ retry: { maxRetries: "many" } }, /^--set: .*retry\.maxRetries/],
  [{ nothing: 1 }, /^--set: .*nothing/],
  ["text", /^--set: /],
])("no settings are opened for a run with %j", async (values, message) => {
  await expect(createDirectories().open(given(values))).rejects.toThrow(message);
});

test("a profile is a file with comments below the directory of the user, and others are not listed", async () => {
  const { agentDir, writeProfile } = createDirectories();
  writeProfile("work", '// mine\n{ "theme": "dark", }');
  for (const name of ["b.c", "safe", "work.json"]) writeProfile(name, "{}");
  writeFileSync(join(agentDir, "profiles", "notes.txt"), "");
  expect(await readProfile(agentDir, "work")).toEqual({
    source: join(agentDir, "profiles", "work.json"),
    values: { theme: "dark" },
    directory: join(agentDir, "profiles"),
  });
  expect(await listProfiles(agentDir)).toEqual(["work"]);
  expect(await listProfiles(join(agentDir, "none"))).toEqual([]);
});

test.each(["../settings", "a/b", "a\\b", ".", "..", "a.b", "", " ", "a\0b", "x".repeat(65)])(
  "%j is not the name of a profile, whatever file there is",
  async (name) => {
    const { agentDir, setUser } = createDirectories();
    setUser({ theme: "dark" });
    await expect(readProfile(agentDir, name)).rejects.toThrow(/cannot be a profile/);
  },
);

test("a profile of the policy is named as what it is, also if there is a file with its name", async () => {
  const { agentDir, writeProfile } = createDirectories();
  writeProfile("safe", "{}");
  for (const name of ["safe", "balanced", "permissive"])
    await expect(readProfile(agentDir, name)).rejects.toThrow(`--policy ${name}`);
});

test("a profile that is missing, damaged or ambiguous is refused with its file, and nothing is created", async () => {
  const { agentDir, writeProfile } = createDirectories();
  writeProfile("work", "{");
  writeProfile("twice", '{"theme": "a", "theme": "b"}');
  await expect(readProfile(agentDir, "wrok")).rejects.toThrow(/no profile "wrok". Did you mean "work"\?.*wrok\.json/);
  await expect(readProfile(agentDir, "work")).rejects.toThrow(/work\.json:1:\d+: /);
  await expect(readProfile(agentDir, "twice")).rejects.toThrow(/twice\.json:1:\d+: "theme" is set more than once/);
  symlinkSync("nowhere", join(agentDir, "profiles", "link.json"));
  await expect(readProfile(agentDir, "link")).rejects.toThrow(/link\.json: .*leads nowhere/);
  expect(readdirSync(join(agentDir, "profiles")).sort()).toEqual(["link.json", "twice.json", "work.json"]);
});
