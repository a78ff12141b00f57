import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DefaultPackageManager } from "../packages/package-manager.ts";
import type { ResolvedResource } from "../packages/resolved-paths.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { loadProjectContextFiles } from "./context-files.ts";
import { loadThemes } from "./load-themes.ts";
import { DefaultResourceLoader } from "./resource-loader.ts";

let directory: string;
let cwd: string;
let agentDir: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-resources-"));
  cwd = join(directory, "project");
  agentDir = join(directory, "agent");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  mkdirSync(agentDir);
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(path: string, text = ""): string {
  const full = join(directory, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}
const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\n`;
const extension = (name: string) =>
  `export default (pi) => { pi.registerCommand("${name}", { handler: async () => {} }); };`;
const open = () => SettingsManager.create(cwd, agentDir);
const createManager = () => new DefaultPackageManager({ cwd, agentDir, settingsManager: open() });
const list = (resources: readonly ResolvedResource[]) =>
  resources.map(({ path, enabled }) => `${enabled ? "+" : "-"}${relative(directory, path)}`);

describe("package manager", () => {
  test("finds what is in the usual directories, and leaves out what the settings say", async () => {
    put("agent/extensions/a.ts");
    put("agent/extensions/b.ts");
    put("agent/skills/one/SKILL.md");
    put("project/.pi/prompts/review.md");
    put("project/.pi/themes/mine.json");
    put("project/.agents/skills/two/SKILL.md");
    put("agent/settings.json", JSON.stringify({ extensions: ["!extensions/b.ts"], skills: ["-skills/one"] }));
    const found = await createManager().resolve();
    expect(list(found.extensions)).toEqual(["+agent/extensions/a.ts", "-agent/extensions/b.ts"]);
    expect(list(found.skills)).toContain("-agent/skills/one/SKILL.md");
    expect(list(found.skills)).toContain("+project/.agents/skills/two/SKILL.md");
    expect(found.prompts).toMatchObject([{ metadata: { source: "auto", scope: "project", origin: "top-level" } }]);
    expect(list(found.themes)).toEqual(["+project/.pi/themes/mine.json"]);
  });

  test("the user's own .agents/skills are theirs also where the project is below the home directory", async () => {
    vi.stubEnv("HOME", directory);
    rmSync(join(cwd, ".git"), { recursive: true });
    put(".agents/skills/mine/SKILL.md");
    put("project/.agents/skills/ours/SKILL.md");
    const { skills } = await createManager().resolve();
    vi.unstubAllEnvs();
    const scopes = skills.map(({ path, metadata }) => [relative(directory, path), metadata.scope]);
    expect(scopes.toSorted()).toEqual([
      [".agents/skills/mine/SKILL.md", "user"],
      ["project/.agents/skills/ours/SKILL.md", "project"],
    ]);
  });

  test("a package has what its manifest names, as far as the filters of its entry let through", async () => {
    put("pack/package.json", JSON.stringify({ name: "pack", pi: { extensions: ["./src"], skills: ["./skills"] } }));
    put("pack/src/one.ts");
    put("pack/src/two.ts");
    put("pack/skills/s/SKILL.md");
    put("pack/prompts/unnamed.md");
    const entry = { source: join(directory, "pack"), extensions: ["!src/two.ts"], skills: [] };
    put("agent/settings.json", JSON.stringify({ packages: [entry] }));
    const found = await createManager().resolve();
    expect(list(found.extensions)).toEqual(["+pack/src/one.ts", "-pack/src/two.ts"]);
    expect(list(found.skills).filter((line) => line.includes("pack"))).toEqual(["-pack/skills/s/SKILL.md"]);
    expect(found.prompts).toEqual([]);
    expect(found.extensions[0]!.metadata).toEqual({
      source: entry.source,
      scope: "user",
      origin: "package",
      baseDir: entry.source,
    });
  });

  test("an entry of the project takes the place of the user's, and a missing package is asked for", async () => {
    put("project/.pi/npm/node_modules/tool/extensions/a.ts");
    put("agent/npm/node_modules/tool/extensions/b.ts");
    put("agent/settings.json", JSON.stringify({ packages: ["npm:tool@1.0.0", "git:example.com/user/gone"] }));
    put("project/.pi/settings.json", JSON.stringify({ packages: ["npm:tool"] }));
    const asked: string[] = [];
    const found = await createManager().resolve(async (source) => (asked.push(source), "skip"));
    expect(list(found.extensions)).toEqual(["+project/.pi/npm/node_modules/tool/extensions/a.ts"]);
    expect(asked).toEqual(["git:example.com/user/gone"]);
    await expect(createManager().resolve(async () => "error")).rejects.toThrow(
      "Missing source: git:example.com/user/gone",
    );
  });

  test("a directory that the settings name may be one extension, with a manifest or an index", async () => {
    put("pack/package.json", JSON.stringify({ pi: { extensions: ["./src/a.ts", "./src/b.ts"] } }));
    for (const name of ["a", "b", "not-named"]) put(`pack/src/${name}.ts`);
    put("single/index.ts");
    put("single/part.ts");
    put("agent/settings.json", JSON.stringify({ extensions: ["../pack", "../single"] }));
    const found = await createManager().resolve();
    expect(list(found.extensions)).toEqual(["+pack/src/a.ts", "+pack/src/b.ts", "+single/index.ts"]);
    const named = await createManager().resolveExtensionSources(["../single", "../gone"]);
    expect(list(named.extensions)).toEqual(["+single/index.ts"]);
  });

  test.each([
    [
      "npm:@scope/name@1.2.3",
      { type: "npm", name: "@scope/name", spec: "@scope/name@1.2.3", pinned: true },
      "npm:@scope/name",
    ],
    ["https://host.org/a/b.git", { type: "git", host: "host.org", path: "a/b", pinned: false }, "git:host.org/a/b"],
    ["ssh://git@host.org/a/b@main", { type: "git", ref: "main", pinned: true }, "git:host.org/a/b"],
    ["git:git@host.org:a/b", { type: "git", repo: "git@host.org:a/b" }, "git:host.org/a/b"],
    ["git@host.org:a/b", { type: "local", path: "git@host.org:a/b" }, undefined],
    ["host.org/a/b", { type: "local" }, undefined],
    ["./near", { type: "local", path: "./near" }, undefined],
  ])("the source %s is parsed as in pi", (source, parsed, identity) => {
    const manager = createManager();
    expect(manager.parseSource(source)).toMatchObject(parsed);
    expect(manager.getPackageIdentity(source)).toBe(identity ?? `local:${join(cwd, source)}`);
  });

  test("sources are written to the settings once, local ones relative to their file", () => {
    mkdirSync(join(cwd, "tools"));
    const manager = createManager();
    expect(manager.addSourceToSettings("./tools", { local: true })).toBe(true);
    expect(manager.addSourceToSettings(join(cwd, "tools"), { local: true })).toBe(false);
    expect(manager.addSourceToSettings("npm:a@1")).toBe(true);
    expect(manager.addSourceToSettings("npm:a@2")).toBe(false);
    expect(open().getProjectSettings()).toEqual({ packages: ["../tools"] });
    expect(manager.removeSourceFromSettings("npm:a")).toBe(true);
    expect(manager.removeSourceFromSettings("npm:a")).toBe(false);
    expect(open().getGlobalSettings()).toEqual({ packages: [] });
  });

  test("a local package is installed by writing it down, and listed with where it is", async () => {
    mkdirSync(join(cwd, "tools"));
    const manager = createManager();
    await manager.installAndPersist("./tools", { local: true });
    manager.addSourceToSettings("npm:gone");
    expect(manager.listConfiguredPackages()).toEqual([
      { source: "npm:gone", scope: "user", filtered: false },
      { source: "../tools", scope: "project", filtered: false, installedPath: join(cwd, "tools") },
    ]);
    expect(await manager.removeAndPersist("./tools", { local: true })).toBe(true);
    expect(await manager.removeAndPersist("./tools", { local: true })).toBe(false);
    await expect(manager.installAndPersist("./nowhere")).rejects.toThrow("Path does not exist");
    expect(manager.listConfiguredPackages()).toHaveLength(1);
  });

  test("packages from npm and git are left to tau", async () => {
    const events: string[] = [];
    const manager = createManager();
    manager.setProgressCallback(({ type }) => events.push(type));
    await expect(manager.install("npm:tool")).rejects.toThrow("tau install npm:tool");
    expect(events).toEqual(["start", "error"]);
    const file = put("one.ts", extension("one"));
    expect(list((await manager.resolveExtensionSources([file], { temporary: true })).extensions)).toEqual(["+one.ts"]);
    await expect(manager.resolveExtensionSources(["npm:gone"])).rejects.toThrow("tau install npm:gone");
  });
});

describe("resource loader", () => {
  test("loads extensions, skills, prompts, context files and system prompts", async () => {
    put("agent/extensions/user.ts", extension("user"));
    put("project/.pi/skills/own/SKILL.md", skill("own"));
    put("project/.pi/prompts/review.md", "---\ndescription: Reviews\n---\nReview $1");
    put("project/AGENTS.md", "Be brief.");
    put("project/.pi/SYSTEM.md", "You are tau.");
    put("agent/APPEND_SYSTEM.md", "Really.");
    const loader = new DefaultResourceLoader({ cwd, agentDir, extensionFactories: [(pi) => pi.setSessionName("x")] });
    expect(loader.getSkills().skills).toEqual([]);
    await loader.reload();
    const { extensions, errors } = loader.getExtensions();
    expect(extensions.map(({ path }) => relative(directory, path))).toEqual(["agent/extensions/user.ts"]);
    expect(errors).toMatchObject([{ path: "<inline:1>" }]);
    expect(loader.getSkills().skills.map(({ name }) => name)).toContain("own");
    expect(loader.getPrompts().prompts).toMatchObject([
      { name: "review", description: "Reviews", content: "Review $1" },
    ]);
    expect(loader.getAgentsFiles().agentsFiles.at(-1)).toEqual({ path: join(cwd, "AGENTS.md"), content: "Be brief." });
    expect(loader.getSystemPrompt()).toBe("You are tau.");
    expect(loader.getAppendSystemPrompt()).toEqual(["Really."]);
    expect(loader.getSystemPromptSource()).toEqual({ path: join(cwd, ".pi/SYSTEM.md") });
    expect(loader.getAppendSystemPromptSources()).toEqual([{ path: join(agentDir, "APPEND_SYSTEM.md") }]);
  });

  test("what extensions add is loaded, with where it comes from", async () => {
    put("agent/prompts/own.md", "Own");
    const prompt = put("more/extra.md", "Extra");
    const file = put("more/skills/s/SKILL.md", skill("s"));
    const loader = new DefaultResourceLoader({ cwd, agentDir });
    await loader.reload();
    const metadata = { source: "extension:x", scope: "temporary", origin: "top-level" } as const;
    loader.extendResources({
      skillPaths: [{ path: join(directory, "more/skills"), metadata }],
      promptPaths: [{ path: join(directory, "more"), metadata }],
    });
    expect(loader.getPrompts().prompts.map(({ name, source }) => [name, source])).toEqual([
      ["own", "user"],
      ["extra", "path"],
    ]);
    expect(loader.getSkills().skills.map(({ name }) => name)).toContain("s");
    expect([prompt, file].map((path) => loader.getPathMetadata().get(path))).toEqual([metadata, metadata]);
  });

  test("a tool or a flag that two extensions have is an error of the second", async () => {
    const both = `export default (pi) => {
      pi.registerTool({ name: "same", label: "", description: "", parameters: {}, execute: async () => ({}) });
      pi.registerFlag("same", { type: "boolean" });
    };`;
    const first = put("agent/extensions/a.ts", both);
    const second = put("agent/extensions/b.ts", both);
    put("agent/extensions/c.ts", "export const nothing = 1;");
    const loader = new DefaultResourceLoader({ cwd, agentDir });
    await loader.reload();
    expect(loader.getExtensions().errors).toEqual([
      {
        path: expect.stringContaining("c.ts"),
        error: expect.stringContaining("does not export a valid factory function"),
      },
      { path: second, error: `Tool "same" conflicts with ${first}` },
      { path: second, error: `Flag "--same" conflicts with ${first}` },
    ]);
  });

  test("what is switched off is not loaded, except what is named; overrides have the last word", async () => {
    put("agent/extensions/user.ts", extension("user"));
    put("agent/skills/s/SKILL.md", skill("s"));
    const named = put("named.ts", extension("named"));
    const loader = new DefaultResourceLoader({
      cwd,
      agentDir,
      noExtensions: true,
      additionalExtensionPaths: [named],
      noSkills: true,
      systemPrompt: "Given.",
      agentsFilesOverride: () => ({ agentsFiles: [{ path: "/a", content: "b" }] }),
      systemPromptOverride: (base) => `${base} Changed.`,
    });
    await loader.reload();
    expect(loader.getExtensions().extensions.map(({ path }) => path)).toEqual([named]);
    expect(loader.getSkills().skills).toEqual([]);
    expect(loader.getAgentsFiles().agentsFiles).toEqual([{ path: "/a", content: "b" }]);
    expect(loader.getSystemPrompt()).toBe("Given. Changed.");
    loader.extendResources({ skillPaths: [{ path: join(agentDir, "skills") }] });
    expect(loader.getSkills().skills.map(({ name }) => name)).toEqual(["s"]);
  });

  test("context files come from the user first, then from the root down, one of each directory", () => {
    put("agent/AGENTS.md", "user");
    put("project/AGENTS.md", "agents");
    put("project/CLAUDE.md", "claude");
    put("project/sub/CLAUDE.md", "sub");
    const files = loadProjectContextFiles({ cwd: join(cwd, "sub"), agentDir });
    expect(files.map(({ content }) => content)).toEqual(["user", "agents", "sub"]);
  });

  test("a context file that cannot be read is named, and the next one of its directory counts", () => {
    mkdirSync(join(cwd, "AGENTS.md"), { recursive: true });
    const path = put("project/CLAUDE.md", "claude");
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    expect(loadProjectContextFiles({ cwd, agentDir })).toEqual([{ path, content: "claude" }]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`${join(cwd, "AGENTS.md")}: EISDIR`)]]);
    warn.mockRestore();
  });

  test("a theme that cannot be read is reported", () => {
    expect(loadThemes([cwd])).toEqual({
      themes: [],
      diagnostics: [{ type: "warning", message: expect.stringContaining("EISDIR"), path: cwd }],
    });
  });
});

test("nothing is loaded of a project that is not trusted, except its context files", async () => {
  put("project/.pi/extensions/own.js", extension("own"));
  put("project/.pi/SYSTEM.md", "The project's prompt.");
  put("project/.agents/skills/two/SKILL.md", skill("two"));
  put("project/AGENTS.md", "Context.");
  put("agent/extensions/mine.js", extension("mine"));
  const load = async (isTrusted: boolean) => {
    const loader = new DefaultResourceLoader({ cwd, agentDir, settingsManager: open() });
    await loader.reload({ resolveProjectTrust: async () => isTrusted });
    const names = loader.getExtensions().extensions.map(({ path }) => basename(path));
    const skills = loader.getSkills().skills.map(({ name }) => name);
    return [names, skills.includes("two"), loader.getSystemPrompt(), loader.getAgentsFiles().agentsFiles.length];
  };
  expect(await load(true)).toEqual([["own.js", "mine.js"], true, "The project's prompt.", 1]);
  expect(await load(false)).toEqual([["mine.js"], false, undefined, 1]);
});

test("inline extensions have the name that they are given, or a number", async () => {
  const factory = () => {};
  const extensionFactories = [factory, { name: "named", factory }];
  const loader = new DefaultResourceLoader({ cwd, agentDir, extensionFactories });
  await loader.reload();
  const paths = loader.getExtensions().extensions.map(({ path }) => path);
  expect(paths).toEqual(["<inline:1>", "<inline:named>"]);
});
