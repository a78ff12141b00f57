import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SettingsManager as OwnSettingsManager } from "@tau/config/settings";
import { SettingsManager } from "./settings-manager.ts";

let cwd: string;
let agentDir: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "pi-settings-"));
  agentDir = join(cwd, "agent");
  mkdirSync(agentDir);
});
afterEach(() => rmSync(cwd, { recursive: true }));

const file = () => join(agentDir, "settings.json");
const read = (path = file()) => JSON.parse(readFileSync(path, "utf8"));
const open = () => SettingsManager.create(cwd, agentDir);

test("getters give what is set, else the default, within its limits", () => {
  const settings = SettingsManager.inMemory({ theme: "light", terminal: { showImages: false }, editorPaddingX: 9 });
  expect(settings.getTheme()).toBe("light");
  expect(settings.getShowImages()).toBe(false);
  expect(settings.getSteeringMode()).toBe("one-at-a-time");
  expect(settings.getDefaultModel()).toBeUndefined();
  expect(settings.getEditorPaddingX()).toBe(3);
  expect(settings.getCompactionSettings()).toEqual({ enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 });
  settings.setRetryEnabled(false);
  expect(settings.getRetrySettings()).toMatchObject({ enabled: false, maxRetries: 3 });
});

test("a setter changes its own setting in the file, and keeps comments and what others wrote meanwhile", () => {
  writeFileSync(file(), '{\n  // mine\n  "theme": "dark"\n}\n');
  const settings = open();
  writeFileSync(file(), '{\n  // mine\n  "theme": "light",\n  "enabledModels": ["a/*"]\n}\n');
  settings.setDefaultThinkingLevel("high");
  expect(readFileSync(file(), "utf8")).toContain("// mine");
  expect(readFileSync(file(), "utf8")).toContain('"theme": "light"');
  expect(settings.getTheme()).toBe("dark");
  settings.setShellPath("/bin/zsh");
  settings.setShellPath(undefined);
  expect(readFileSync(file(), "utf8")).not.toContain("shellPath");
});

test("a setter keeps the mode of the file, and the link that leads to it", () => {
  const real = join(cwd, "real.json");
  writeFileSync(real, "{}", { mode: 0o600 });
  symlinkSync(real, file());
  open().setShellPath("/bin/zsh");
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o600);
  expect(read()).toEqual({ shellPath: "/bin/zsh" });
});

test("the settings of a project count before those of the user, and objects are merged", () => {
  writeFileSync(file(), JSON.stringify({ theme: "dark", compaction: { enabled: true, reserveTokens: 1 } }));
  mkdirSync(join(cwd, ".pi"));
  writeFileSync(join(cwd, ".pi", "settings.json"), JSON.stringify({ compaction: { reserveTokens: 2 } }));
  expect(open().getCompactionSettings()).toMatchObject({ enabled: true, reserveTokens: 2 });
  expect(SettingsManager.create(cwd, agentDir, { projectTrusted: false }).getCompactionReserveTokens()).toBe(1);
});

test("reading creates nothing; writing a setting of the project creates its directory", () => {
  open().getTheme();
  expect(existsSync(join(cwd, ".pi"))).toBe(false);
  open().setProjectSkillPaths!(["./skills"]);
  expect(read(join(cwd, ".pi", "settings.json"))).toEqual({ skills: ["./skills"] });
});

test("a damaged file is reported and never changed", async () => {
  writeFileSync(file(), "{ theme");
  const settings = open();
  expect(settings.drainErrors()).toMatchObject([{ scope: "global" }]);
  expect(settings.drainErrors()).toEqual([]);
  settings.setTheme("light");
  expect(settings.getTheme()).toBe("light");
  expect(readFileSync(file(), "utf8")).toBe("{ theme");
});

test("reloading takes what changed, and keeps the last values of a damaged file", async () => {
  writeFileSync(file(), JSON.stringify({ theme: "dark" }));
  const settings = open();
  writeFileSync(file(), JSON.stringify({ theme: "light" }));
  await settings.reload();
  expect(settings.getTheme()).toBe("light");
  writeFileSync(file(), "{");
  await settings.reload();
  expect(settings.getTheme()).toBe("light");
});

test("names and forms of earlier versions are read", () => {
  const skills = { enableSkillCommands: false, customDirectories: ["/skills"] };
  const settings = SettingsManager.inMemory({ queueMode: "all", websockets: true, skills });
  expect(settings.getSteeringMode()).toBe("all");
  expect(settings.getTransport()).toBe("websocket");
  expect(settings.getEnableSkillCommands()).toBe(false);
  expect(settings.getSkillPaths()).toEqual(["/skills"]);
});

test("overrides count in this process only", () => {
  const settings = open();
  settings.applyOverrides({ theme: "mine" });
  expect(settings.getTheme()).toBe("mine");
  expect(existsSync(file())).toBe(false);
});

test("a setter counts before an override, and leaves the other ones", () => {
  const settings = open();
  settings.applyOverrides({ theme: "mine", compaction: { enabled: false, reserveTokens: 5 } });
  settings.setCompactionEnabled(true);
  expect(settings.getCompactionSettings()).toMatchObject({ enabled: true, reserveTokens: 5 });
  expect(settings.getTheme()).toBe("mine");
});

test("tau's own settings read what was set", async () => {
  open().setDefaultModelAndProvider("anthropic", "claude-sonnet-4-5");
  open().setCompactionEnabled(false);
  const own = await OwnSettingsManager.create(cwd, agentDir, { watch: false });
  expect(own.problems).toEqual([]);
  expect(own.get().compaction.enabled).toBe(false);
  expect(own.getGlobal()).toMatchObject({ defaultProvider: "anthropic", defaultModel: "claude-sonnet-4-5" });
  await own.close();
});

test("a pair of themes is no theme, and a project does not decide on its trust", () => {
  const settings = open();
  settings.setTheme("light/dark");
  expect([settings.getTheme(), settings.getThemeSetting()]).toEqual([undefined, "light/dark"]);
  settings.set(["defaultProjectTrust"], "always", "project");
  expect(settings.getDefaultProjectTrust()).toBe("ask");
  settings.setDefaultProjectTrust("never");
  expect(settings.getDefaultProjectTrust()).toBe("never");
});

test("the id of the device stays, and extensions note which changes were shown", () => {
  const id = open().getOrCreateDeviceId();
  expect(open().getOrCreateDeviceId()).toBe(id);
  open().setExtensionChangelogVersion("mine", "1.2.0");
  expect(open().getExtensionChangelogVersion("mine")).toBe("1.2.0");
});
