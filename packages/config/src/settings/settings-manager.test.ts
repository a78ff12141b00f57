import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { withEveryFault } from "@tau/tools/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { HarnessError } from "@tau/protocol";
import type { SettingsInput } from "./schema.ts";
import { SettingsManager } from "./settings-manager.ts";
import { formatFileProblem } from "../files/file-problem.ts";

/** The directories of a user and of a project, removed after the test. */
function createDirectories() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-settings-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const agentDir = join(root, "agent");
  const cwd = join(root, "project");
  mkdirSync(agentDir);
  mkdirSync(join(cwd, ".tau"), { recursive: true });
  return {
    root,
    agentDir,
    cwd,
    global: join(agentDir, "settings.json"),
    project: join(cwd, ".tau", "settings.json"),
    open: (options = {}) => SettingsManager.create(cwd, agentDir, options),
  };
}

const ignoredProject = "The project is not trusted, so none of its settings count until this is corrected.";

const formatProblems = (manager: SettingsManager) => manager.problems.map(formatFileProblem);

describe("reading", () => {
  test("without any files there are the defaults and no problems, and nothing is written", async () => {
    const { root, open, agentDir, cwd } = createDirectories();
    rmSync(agentDir, { recursive: true });
    rmSync(join(cwd, ".tau"), { recursive: true });
    const manager = await open();
    expect(manager.get().retry).toMatchObject({ enabled: true, maxRetries: undefined, baseDelayMs: 2000 });
    expect(manager.problems).toEqual([]);
    expect(readdirSync(root, { recursive: true })).toEqual(["project"]);
  });

  test("both files count, and comments and trailing commas are allowed", async () => {
    const { global, project, open } = createDirectories();
    writeFileSync(global, '// mine\n{ "theme": "dark", "retry": { "maxRetries": 5, }, }');
    writeFileSync(project, '\uFEFF{ "retry": { "baseDelayMs": 1 } } /* end */');
    const manager = await open();
    expect(manager.get().retry).toMatchObject({ enabled: true, maxRetries: 5, baseDelayMs: 1 });
    expect(manager.getGlobal()).toEqual({ theme: "dark", retry: { maxRetries: 5 } });
    expect(manager.getProject()).toEqual({ retry: { baseDelayMs: 1 } });
    expect(manager.problems).toEqual([]);
    expect(Object.isFrozen(manager.getGlobal().retry)).toBe(true);
  });

  test("each error is reported with its file, line, column and key, and the rest counts", async () => {
    const { global, project, open } = createDirectories();
    writeFileSync(global, '{\n  "theme": "dark",\n  "retry": {\n    "maxRetrys": 1 },\r\n  "theme": "light"\n}');
    writeFileSync(project, '{\n\t"shellPath": "./evil", "hideThinkingBlock": 1 }');
    const manager = await open();
    expect(manager.problems[0]).toEqual({
      kind: "unknown_setting",
      scope: "global",
      file: global,
      line: 4,
      column: 5,
      key: "retry.maxRetrys",
      message: 'There is no setting "retry.maxRetrys". Did you mean "maxRetries"?',
    });
    expect(formatProblems(manager).slice(1)).toEqual([
      `${global}:5:3: "theme" is set more than once. The last one counts.`,
      `${project}:2:2: A project may not set shellPath before it is trusted, so this is ignored. Set it in your own settings, or trust the project: tau trust`,
      `${project}:2:25: "hideThinkingBlock" has to be true or false, not 1. ${ignoredProject}`,
    ]);
    expect(manager.get().theme).toBe("light");
    expect(manager.get().shellPath).toBeUndefined();
  });

  test("of a project that is not trusted nothing counts while it has an error, and a session starts", async () => {
    const { project, open } = createDirectories();
    for (const text of ['{ "theme": "a", "polcy": {} }', '{ "theme": "a", "limits": 5 }', '{ "theme": "a" ']) {
      writeFileSync(project, text);
      const manager = await open();
      manager.mustBeWhole();
      expect(manager.getProject()).toEqual({});
      expect(manager.get().theme).toBe("system");
      expect(formatProblems(manager).join("\n")).toContain(ignoredProject);
      const trusted = await open({ projectTrusted: true });
      expect(() => trusted.mustBeWhole()).toThrow("tau does not start");
    }
    writeFileSync(project, '{ "theme": "a", "shellPath": "./evil" }');
    expect((await open()).get().theme).toBe("a");
  });

  test("a project that is trusted may set everything", async () => {
    const { project, open } = createDirectories();
    writeFileSync(project, '{ "shellPath": "zsh", "skills": ["s"] }');
    const manager = await open({ projectTrusted: true });
    expect(manager.get().shellPath).toBe("zsh");
    expect(manager.get().skills).toEqual([join(project, "..", "s")]);
    expect(manager.problems).toEqual([]);
  });

  test("a file that is both the user's and the project's counts once, as the user's", async () => {
    const { root } = createDirectories();
    mkdirSync(join(root, ".tau"));
    writeFileSync(join(root, ".tau", "settings.json"), '{ "shellPath": "zsh", "them": 1 }');
    const manager = await SettingsManager.create(root, join(root, ".tau"));
    expect(manager.get().shellPath).toBe("zsh");
    expect(manager.problems).toHaveLength(1);
    await expect(manager.update("project", { theme: "a" })).rejects.toThrow("holds your own settings");
  });

  test("names that are special in JavaScript are ordinary names in a file", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "__proto__": { "theme": "a" }, "shellEnv": { "__proto__": "x", "A": "1" } }');
    const manager = await open();
    expect(manager.get().theme).toBe("system");
    expect(manager.get().shellEnv).toEqual({ A: "1" });
    expect(manager.problems.map(({ key }) => key)).toEqual(["__proto__", "shellEnv.__proto__"]);
  });
});

describe("a damaged file", () => {
  const whole = '{ // note\n "theme": "dark", "retry": { "maxRetries": 5 }, "enabledModels": ["ä/*"] }';

  test("that is cut at any byte never throws, keeps the last valid value, and is reported with its position", async () => {
    const { global, open } = createDirectories();
    const bytes = Buffer.from(whole);
    writeFileSync(global, bytes);
    const manager = await open();
    const good = manager.get();
    for (let length = bytes.length - 1; length >= 0; length--) {
      writeFileSync(global, bytes.subarray(0, length));
      await manager.reload();
      expect(manager.get()).toBe(good);
      expect(manager.problems).toHaveLength(1);
      const [problem] = manager.problems;
      expect(problem?.kind).toMatch(/^(damaged|unreadable)$/);
      expect(problem?.message).toMatch(/^[A-Z].*\.$/);
      expect((await open()).get().theme).toBe("system");
    }
    writeFileSync(global, bytes);
    await manager.reload();
    expect(manager.problems).toEqual([]);
  });

  test.each([
    ["[]", "1:1: The file has to hold an object: { … }."],
    ["", "1:1: The file is empty. Write {} into it, or remove it."],
    ['{\n "a": 1\n "b": 2 }', "3:2: A comma is missing before this."],
    ["{\n theme: 1 }", "2:2: This is not JSON. Put names and strings in double quotes."],
    [`{"a":${"[".repeat(65)}`, "1:69: This is nested more than 64 levels deep."],
    ['{"a": "\\x"}', "1:7: A backslash in a string has to be written twice."],
  ])("%j is explained", async (text, message) => {
    const { global, open } = createDirectories();
    writeFileSync(global, text);
    expect(formatProblems(await open())).toEqual([`${global}:${message}`]);
  });

  test.each([
    ["a misspelled group", '{ "tool": { "excluded": ["bash"] } }', true],
    ["a group with two letters swapped", '{ "budgest": { "cost": 1 } }', true],
    ["a group that is set twice", '{ "tools": { "excluded": ["bash"] }, "tools": {} }', true],
    ["a restriction that is set twice", '{ "tools": { "excluded": ["bash"], "excluded": [] } }', true],
    ["a name of something else", '{ "hooked": {} }', false],
    ["hooks in a program that has none", '{ "hooks": { "PreToolUse": [] } }', false],
    ["another setting that is set twice", '{ "theme": "a", "theme": "b" }', false],
  ])("with %s: a session starts only if no restriction can be missing", async (_name, text, isRefused) => {
    const { global, open } = createDirectories();
    writeFileSync(global, text);
    const manager = await open();
    expect(manager.problems).toHaveLength(1);
    if (isRefused) expect(() => manager.mustBeWhole()).toThrow("a setting that restricts it could be missing");
    else manager.mustBeWhole();
  });

  test("that is a link to nothing is not an absent one", async () => {
    const { root, global, open } = createDirectories();
    symlinkSync(join(root, "unmounted/settings.json"), global);
    const manager = await open();
    expect(formatProblems(manager)).toEqual([
      `${global}:1:1: The file cannot be read: it is a link that leads nowhere.`,
    ]);
    expect(() => manager.mustBeWhole()).toThrow("tau does not start");
  });

  test("of another user counts, unless it is in a directory that everybody can write to", async () => {
    const { agentDir, global, open } = createDirectories();
    writeFileSync(global, '{ "theme": "theirs" }');
    const stat: FileSystem["stat"] = async (path) => {
      const stats = await nodeFileSystem.stat(path);
      stats.uid = 4242;
      return stats;
    };
    const { statNow: _statNow, ...others } = nodeFileSystem;
    const fileSystem: FileSystem = { ...others, stat };
    expect((await open({ fileSystem })).get().theme).toBe("theirs");
    chmodSync(agentDir, 0o1777);
    const manager = await open({ fileSystem });
    expect(manager.get().theme).toBe("system");
    expect(() => manager.mustBeWhole()).toThrow("it belongs to another user (id 4242)");
  });

  test("that is nested very deeply does not crash the parser", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, `{"a":${"[".repeat(100_000)}`);
    expect((await open()).problems).toMatchObject([{ kind: "damaged", line: 1, column: 69 }]);
  });

  test("that is not a regular file, too large or not UTF-8 is reported without waiting for it", async () => {
    const { global, project, open } = createDirectories();
    mkdirSync(global);
    symlinkSync("/dev/null", project);
    expect(formatProblems(await open())).toEqual([
      `${global}:1:1: The file cannot be read: it is not a regular file.`,
      `${project}:1:1: The file cannot be read: it is not a regular file. ${ignoredProject}`,
    ]);
    rmSync(global, { recursive: true });
    rmSync(project);
    writeFileSync(global, Buffer.alloc(2 ** 22 + 1, 32));
    writeFileSync(project, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(formatProblems(await open())).toEqual([
      `${global}:1:1: The file cannot be read: it has 4194305 bytes, and the limit is 4194304.`,
      `${project}:1:1: The file cannot be read: it is not UTF-8. ${ignoredProject}`,
    ]);
  });

  test("is not changed by an update, whose error says what to do", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "theme": ');
    const manager = await open();
    const error: unknown = await manager.update("global", { theme: "a" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HarnessError);
    expect(String(error)).toContain(
      `${global}:1:12: A value is missing here. Correct the file first; it was not changed.`,
    );
    expect(readFileSync(global, "utf8")).toBe('{ "theme": ');
  });

  test("a value that becomes wrong keeps its last valid value", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "retry": { "maxRetries": 5 } }');
    const manager = await open();
    writeFileSync(global, '{ "retry": { "maxRetries": "six" }, "theme": "new" }');
    await manager.reload();
    expect(manager.get().retry.maxRetries).toBe(5);
    expect(manager.get().theme).toBe("new");
  });

  test.each([
    ["a wrong name", '{ "tools": { "exclude": ["bash"], "execution": "sequential" } }'],
    ["a wrong name of the group", '{ "tool": { "excluded": ["bash"] }, "tools": { "execution": "sequential" } }'],
    ["a second value", '{ "tools": { "excluded": ["bash"], "excluded": [], "execution": "sequential" } }'],
  ])("a restriction that gets %s stays until the file is corrected", async (_mistake, text) => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "tools": { "excluded": ["bash"] } }');
    const manager = await open();
    writeFileSync(global, text);
    await manager.reload();
    expect(manager.get().tools).toMatchObject({ excluded: ["bash"], execution: "sequential" });
    expect(() => manager.mustBeWhole()).toThrow("a setting that restricts it could be missing");
    writeFileSync(global, "{}");
    await manager.reload();
    expect(manager.get().tools.excluded).toEqual([]);
  });
});

describe("updating", () => {
  test("writes a new file that only its owner can read, and creates its directory", async () => {
    const { agentDir, global, open } = createDirectories();
    rmSync(agentDir, { recursive: true });
    const manager = await open();
    await manager.update("global", { retry: { maxRetries: 7 } });
    expect(readFileSync(global, "utf8")).toBe('{\n  "retry": {\n    "maxRetries": 7\n  }\n}\n');
    expect(statSync(global).mode & 0o777).toBe(0o600);
    expect(manager.get().retry.maxRetries).toBe(7);
  });

  test("keeps comments, mode and everything else, and leaves no other files behind", async () => {
    const { cwd, project, open } = createDirectories();
    writeFileSync(project, '{\n  // why\n  "theme": "a", "retry": 5\n}\n');
    chmodSync(project, 0o640);
    await (await open()).update("project", { theme: "b" });
    expect(readFileSync(project, "utf8")).toBe('{\n  // why\n  "theme": "b", "retry": 5\n}\n');
    expect(statSync(project).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(cwd, ".tau"))).toEqual(["settings.json"]);
  });

  test("null is written, and undefined removes", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "theme": "a", "transport": "sse" }');
    const manager = await open();
    await manager.update("global", { theme: null, transport: undefined });
    expect(manager.getGlobal()).toEqual({ theme: null });
    expect(manager.get().theme).toBe("system");
  });

  test("a change that is not valid changes nothing", async () => {
    const { global, open } = createDirectories();
    const manager = await open();
    const change = (scope: "global" | "project", changes: object) => manager.update(scope, changes as SettingsInput);
    await expect(change("global", { them: "a" })).rejects.toThrow(
      'There is no setting "them". Did you mean "theme" or "themes"?',
    );
    await expect(change("global", { them: undefined })).rejects.toThrow('There is no setting "them"');
    await expect(change("global", { theme: 1 })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(change("project", { shellPath: "x" })).rejects.toThrow("before it is trusted");
    expect(existsSync(global)).toBe(false);
  });

  test("updates at the same time all count, also from several managers", async () => {
    const { open } = createDirectories();
    const managers = await Promise.all([open(), open(), open()]);
    const names = Array.from({ length: 12 }, (_unused, at) => `V${at}`);
    await Promise.all(
      names.map((name, at) => managers[at % 3]!.update("global", { shellEnv: { [name]: String(at) } })),
    );
    const { shellEnv } = (await open()).get();
    expect(Object.keys(shellEnv).sort()).toEqual(names.sort());
  });

  test("a link is followed, but not out of the project", async () => {
    const { root, global, project, open } = createDirectories();
    const dotfiles = join(root, "dotfiles.json");
    writeFileSync(dotfiles, "{}");
    symlinkSync(dotfiles, global);
    symlinkSync(dotfiles, project);
    const manager = await open();
    await manager.update("global", { theme: "a" });
    expect(lstatSync(global).isSymbolicLink()).toBe(true);
    expect(readFileSync(dotfiles, "utf8")).toContain('"theme": "a"');
    await expect(manager.update("project", { theme: "b" })).rejects.toThrow("outside of the project");
    expect(readFileSync(dotfiles, "utf8")).toContain('"theme": "a"');
  });

  test("a change that an editor saves meanwhile is merged, not lost", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "theme": "a" }');
    let saves = 0;
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async open(path, flags, mode) {
        // The draft is being written: everything has been read.
        const isDraft = path.startsWith(`${global}.`) && !path.includes(".lease");
        if (isDraft && saves++ < 2) writeFileSync(global, `{ "theme": "saved ${saves}" }`);
        return await nodeFileSystem.open(path, flags, mode);
      },
    };
    const manager = await open({ fileSystem });
    await manager.update("global", { hideThinkingBlock: true });
    expect(manager.getGlobal()).toEqual({ theme: "saved 2", hideThinkingBlock: true });
    expect(readdirSync(join(global, ".."))).toEqual(["settings.json"]);
  });

  test("whichever call to the disk fails, the file is old or new as a whole, and the result says which", async () => {
    await withEveryFault(nodeFileSystem, async (fileSystem) => {
      const { global, open } = createDirectories();
      writeFileSync(global, '{ "theme": "old" }');
      const manager = await open({ fileSystem });
      const error: unknown = await manager.update("global", { theme: "new" }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const theme = (JSON.parse(readFileSync(global, "utf8")) as { theme: string }).theme;
      if (error === undefined) expect(theme).toBe("new");
      else expect(error).toMatchObject({ name: "HarnessError", code: "write_failed" });
      expect(theme).toMatch(/^(old|new)$/);
      await (await open()).update("global", { theme: "after" });
      expect((await open()).get().theme).toBe("after");
    });
  });
});

describe("in memory", () => {
  test("settings work as in a file", async () => {
    const manager = SettingsManager.inMemory({ theme: "a", retry: { maxRetries: 1 } }, { projectTrusted: true });
    expect(manager.get().retry).toMatchObject({ enabled: true, maxRetries: 1, baseDelayMs: 2000 });
    const seen: string[][] = [];
    manager.subscribe(({ changed }) => seen.push([...changed]));
    await manager.update("project", { theme: "b", shellPath: "zsh" });
    await manager.update("global", { theme: "c" });
    expect(manager.get().theme).toBe("b");
    expect(seen).toEqual([["shellPath", "theme"]]);
    await manager.close();
  });

  test("settings that are not valid throw", () => {
    expect(() => SettingsManager.inMemory({ them: "a" } as SettingsInput)).toThrow(HarnessError);
  });
});

describe("pi's files", () => {
  const piSettings = {
    lastChangelogVersion: "1.5.0",
    packages: ["npm:x"],
    deviceId: "d",
    theme: "dark",
    tuiMode: "fullscreen",
    terminal: { showImages: false, clearOnShrink: true },
    retry: { maxRetries: 2, provider: { maxRetries: 0 } },
    compaction: { modelOverrides: {} },
  };

  test("settings that pi writes itself make no problem, and are listed as ignored", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, JSON.stringify(piSettings));
    const manager = await open();
    expect(manager.problems).toEqual([]);
    expect(manager.get()).toMatchObject({ theme: "dark", tuiMode: "fullscreen", retry: { maxRetries: 2 } });
    expect(manager.get().terminal).toMatchObject({ showImages: false, imageWidthCells: 60 });
    expect(manager.ignored.toSorted()).toEqual("deviceId lastChangelogVersion terminal.clearOnShrink".split(" "));
  });

  test("each scope's own packages have absolute paths, and those of .tau replace those of .pi", async () => {
    const { agentDir, cwd, global, project, open } = createDirectories();
    writeFileSync(global, JSON.stringify({ packages: ["npm:a", { source: "./mine", skills: ["-x"] }] }));
    mkdirSync(join(cwd, ".pi"));
    writeFileSync(join(cwd, ".pi", "settings.json"), JSON.stringify({ packages: ["./theirs"] }));
    const manager = await open({ projectTrusted: true });
    expect(manager.problems).toEqual([]);
    const own = { source: join(agentDir, "mine"), skills: ["-x"] };
    expect(manager.getGiven("global", "packages")).toEqual(["npm:a", own]);
    expect(manager.getGiven("project", "packages")).toEqual([join(cwd, ".pi", "theirs")]);
    expect(manager.getGiven("project", "retry")).toBe(undefined);
    writeFileSync(project, JSON.stringify({ packages: ["../lib"] }));
    await manager.reload();
    expect(manager.getGiven("project", "packages")).toEqual([join(cwd, "lib")]);
  });

  test.each([
    [[""], "packages.0"],
    [[{ skills: [] }], "packages.0"],
    [[{ source: "npm:a", autoload: 1 }], "packages.0.autoload"],
    ["npm:a", "packages"],
  ])("packages such as %j are refused", async (packages, key) => {
    const { global, open } = createDirectories();
    writeFileSync(global, JSON.stringify({ packages }));
    const [problem] = (await open()).problems;
    expect(problem).toMatchObject({ kind: "invalid_value" });
    expect(problem!.message).toContain(key.split(".")[0]);
  });

  test("a setting that nobody knows is still reported", async () => {
    const { global, open } = createDirectories();
    writeFileSync(global, '{ "terminall": {},\n"retry": { "maxRetry": 1 } }');
    expect(formatProblems(await open())).toEqual([
      expect.stringContaining('There is no setting "terminall"'),
      expect.stringContaining('Did you mean "maxRetries"?'),
    ]);
  });

  test("a project's file for pi counts as its own one does, which wins, and is never written", async () => {
    const { cwd, project, open } = createDirectories();
    mkdirSync(join(cwd, ".pi"));
    const text = '{ "theme": "dark", "retry": { "maxRetries": 1 }, "shellPath": "/bin/zsh", "npmCommand": [] }';
    writeFileSync(join(cwd, ".pi", "settings.json"), text);
    writeFileSync(project, '{ "theme": "light" }');
    const manager = await open();
    expect(manager.get()).toMatchObject({ theme: "light", retry: { maxRetries: 1 }, shellPath: undefined });
    expect(manager.problems).toMatchObject([{ kind: "untrusted", key: "shellPath", scope: "project" }]);
    await manager.setProjectTrusted(true);
    expect(manager.get().shellPath).toBe("/bin/zsh");
    expect(manager.getProject()).toEqual({ theme: "light", retry: { maxRetries: 1 }, shellPath: "/bin/zsh" });
    await manager.update("project", { retry: { maxRetries: 7 } });
    expect(manager.get().retry.maxRetries).toBe(7);
    expect(readFileSync(join(cwd, ".pi", "settings.json"), "utf8")).toBe(text);
  });
});

test("an answer about the project stays, although a check of the files began before it", async () => {
  const { project, open } = createDirectories();
  writeFileSync(project, '{ "shellPath": "/bin/zsh" }');
  const manager = await open();
  let finishCheck: (isSame: boolean) => void = () => {};
  await manager.setProjectTrusted(true, async () => true);
  let isChecking = false;
  const slowCheck = () => {
    isChecking = true;
    return new Promise<boolean>((resolve) => (finishCheck = resolve));
  };
  const reloaded = manager.setProjectTrusted(true, slowCheck);
  await expect.poll(() => isChecking).toBe(true);
  const changes: boolean[] = [];
  manager.subscribe(({ trustChanged }) => void changes.push(trustChanged));
  const answered = manager.setProjectTrusted(false);
  finishCheck(true);
  await Promise.all([reloaded, answered]);
  expect([manager.isProjectTrusted, manager.get().shellPath, changes]).toEqual([false, undefined, [true]]);
  await manager.close();
});

test("what is the user's alone is ignored in a project, with a notice, also if the project is trusted", async () => {
  const { project, global, open } = createDirectories();
  writeFileSync(global, '{ "defaultProjectTrust": "never" }');
  writeFileSync(project, '{ "defaultProjectTrust": "always", "auth": { "store": "keychain" } }');
  const manager = await open({ projectTrusted: true });
  expect(manager.get()).toMatchObject({ defaultProjectTrust: "never", auth: { store: "file" } });
  expect(formatProblems(manager)).toEqual([
    expect.stringContaining("A project may not set defaultProjectTrust"),
    expect.stringContaining("A project may not set auth.store"),
  ]);
  await expect(manager.update("project", { defaultProjectTrust: "always" })).rejects.toMatchObject({
    code: "invalid_input",
  });
});
