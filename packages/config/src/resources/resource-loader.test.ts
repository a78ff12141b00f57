import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { faultyFileSystem } from "@tau/tools/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { listNamedAgents, loadNamedAgent } from "./named-agent.ts";
import { createResourceLoader, type ResourceLoaderOptions } from "./resource-loader.ts";
import type { Resources } from "./resources.ts";

async function directory(files: Record<string, string | Buffer>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-resources-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  await mkdir(join(root, "project"));
  await write(root, files);
  return root;
}

async function write(root: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}

const open = (root: string, options: Partial<ResourceLoaderOptions> = {}) =>
  createResourceLoader({
    cwd: join(root, "project"),
    agentDir: join(root, "agent"),
    home: join(root, "home"),
    isProjectTrusted: () => true,
    ...options,
  });

const skill = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`;

/** Formats a line for each, from below `root` only. */
const lines = (
  { systemPrompt, appendSystemPrompt, contextFiles, skills, promptTemplates }: Resources,
  root: string,
) => [
  `system: ${systemPrompt?.content}`,
  `append: ${appendSystemPrompt?.content}`,
  ...contextFiles.filter(({ path }) => path.startsWith(root)).map(({ content }) => `context: ${content}`),
  ...skills.map(({ name, description }) => `skill ${name}: ${description}`),
  ...promptTemplates.map(({ name, content }) => `template ${name}: ${content}`),
];

const everything = {
  "agent/SYSTEM.md": "my system",
  "agent/APPEND_SYSTEM.md": "my append",
  "agent/AGENTS.md": "my context",
  "agent/skills/a/SKILL.md": skill("a", "mine"),
  "agent/prompts/p.md": "my p",
  "home/.agents/skills/b/SKILL.md": skill("b", "shared"),
  "project/AGENTS.md": "its context",
  "project/.tau/SYSTEM.md": "its system",
  "project/.tau/skills/a/SKILL.md": skill("a", "its"),
  "project/.tau/skills/c/SKILL.md": skill("c", "its"),
  "project/.agents/skills/d/SKILL.md": skill("d", "its shared"),
  "project/.tau/prompts/p.md": "its p",
  "project/.tau/prompts/q.md": "its q",
};

describe("a resource loader", () => {
  test("reads files of the user and of the project: the project's system prompt has precedence, the user's skills and templates do", async () => {
    const root = await directory(everything);
    const loader = await open(root);
    expect(lines(loader.resources, root)).toEqual([
      "system: its system",
      "append: my append",
      "context: my context",
      "context: its context",
      "skill a: mine",
      "skill b: shared",
      "skill c: its",
      "skill d: its shared",
      "template p: my p",
      "template q: its q",
    ]);
    expect(loader.problems.map(({ kind, file }) => [kind, file.slice(root.length)])).toEqual([
      ["collision", "/project/.tau/skills/a/SKILL.md"],
      ["collision", "/project/.tau/prompts/p.md"],
    ]);
  });

  test("without the project reads nothing of it, and its context files only if the option says so", async () => {
    const root = await directory(everything);
    const own = [
      "system: my system",
      "append: my append",
      "context: my context",
      "skill a: mine",
      "skill b: shared",
      "template p: my p",
    ];
    expect(lines((await open(root, { includeProject: false })).resources, root)).toEqual(own);
    const asked = await open(root, { includeProject: false, contextFiles: "all" });
    expect(lines(asked.resources, root)).toEqual(own.toSpliced(3, 0, "context: its context"));
    expect(lines((await open(root, { contextFiles: "none" })).resources, root)).not.toContain("context: my context");
  });

  test("reads only context files of a project that is not trusted, names what it ignores, and says how to trust it", async () => {
    const root = await directory({ ...everything, "project/.tau/APPEND_SYSTEM.md": "its append" });
    let isTrusted = false;
    const loader = await open(root, { isProjectTrusted: () => isTrusted });
    expect(lines(loader.resources, root)).toEqual([
      "system: my system",
      "append: my append",
      "context: my context",
      "context: its context",
      "skill a: mine",
      "skill b: shared",
      "template p: my p",
    ]);
    expect(loader.problems.map(({ kind, file }) => [kind, file.slice(root.length)])).toEqual([
      ["untrusted", "/project"],
    ]);
    const [message] = loader.problems.map((problem) => problem.message);
    expect(message).toMatch(
      /ignored: \.tau\/SYSTEM.md, .*APPEND_SYSTEM.md, \.tau\/skills, \.agents\/skills, \.tau\/prompts\. .*: tau trust$/,
    );
    isTrusted = true;
    expect(await loader.reload()).toEqual(["systemPrompt", "appendSystemPrompt", "skills", "promptTemplates"]);
    expect(loader.problems.filter(({ kind }) => kind === "untrusted")).toEqual([]);
  });

  test("reads .pi of a trusted project like .tau, which has precedence", async () => {
    const files = {
      "project/.tau/prompts/p.md": "tau's p",
      "project/.tau/skills/a/SKILL.md": skill("a", "tau's"),
      "project/.pi/SYSTEM.md": "pi's system",
      "project/.pi/APPEND_SYSTEM.md": "pi's append",
      "project/.pi/skills/a/SKILL.md": skill("a", "pi's"),
      "project/.pi/skills/b/SKILL.md": skill("b", "pi's"),
      "project/.pi/prompts/p.md": "pi's p",
      "project/.pi/prompts/q.md": "pi's q",
    };
    const root = await directory(files);
    const loader = await open(root);
    expect(lines(loader.resources, root)).toEqual([
      "system: pi's system",
      "append: pi's append",
      "skill a: tau's",
      "skill b: pi's",
      "template p: tau's p",
      "template q: pi's q",
    ]);
    await write(root, { "project/.tau/SYSTEM.md": "tau's system" });
    expect(await loader.reload()).toEqual(["systemPrompt"]);
    expect(loader.resources.systemPrompt?.content).toBe("tau's system");
    expect(lines((await open(root, { isProjectTrusted: () => false })).resources, root)).toHaveLength(2);
  });

  test("reads .agents/skills of a trusted project up to the top of its repository", async () => {
    const root = await directory({
      "project/.git/HEAD": "",
      "project/.agents/skills/top/SKILL.md": skill("top", "of the repository"),
      "project/part/.agents/skills/near/SKILL.md": skill("near", "of a part"),
      ".agents/skills/above/SKILL.md": skill("above", "of nobody"),
    });
    const getNames = async (isTrusted: boolean) => {
      const loader = await open(root, { cwd: join(root, "project/part"), isProjectTrusted: () => isTrusted });
      return loader.resources.skills.map(({ name }) => name);
    };
    expect([await getNames(true), await getNames(false)]).toEqual([["near", "top"], []]);
  });

  test("leaves out and includes what the lists of the settings say, whenever it loads", async () => {
    const root = await directory({ ...everything, "more/old-one/SKILL.md": skill("old-one", "more") });
    let skills = [join(root, "more"), "!old-*"];
    let prompts: string[] = [];
    const loader = await open(root, { lists: () => ({ skills, prompts }) });
    const getNames = () => loader.resources.skills.map(({ name }) => name);
    expect(getNames()).toEqual(["a", "b", "c", "d"]);
    skills = ["!*", `+${join(root, "more/old-one")}`, `+${join(root, "agent/skills/a")}`, `-${join(root, "agent")}`];
    prompts = [`!${join(root, "agent/*")}`, `-${join(root, "project/.tau/prompts/q.md")}`];
    expect(await loader.reload()).toEqual(["skills", "promptTemplates"]);
    expect(getNames()).toEqual(["old-one"]);
    expect(loader.resources.promptTemplates.map(({ name, content }) => [name, content])).toEqual([["p", "its p"]]);
    const explicit = await open(root, {
      lists: () => ({ skills, prompts }),
      skillPaths: [join(root, "agent/skills/a")],
    });
    expect(explicit.resources.skills.map(({ name }) => name)).toEqual(["a", "old-one"]);
  });

  test.each([".tau", ".pi"])(
    "in the home directory does not take %s behind a link for that of a project",
    async (name) => {
      const root = await directory({ "agent/skills/a/SKILL.md": skill("a", "the user's") });
      await symlink(join(root, "agent"), join(root, "project", name));
      const loader = await open(root, { isProjectTrusted: () => false });
      expect(loader.problems).toEqual([]);
      expect(loader.resources.skills.map(({ filePath }) => filePath)).toEqual([join(root, "agent/skills/a/SKILL.md")]);
    },
  );

  test("in the home directory does not use the agent directory as that of a project", async () => {
    const root = await directory({ "project/.tau/SYSTEM.md": "mine", "project/.tau/prompts/p.md": "p" });
    const loader = await open(root, { agentDir: join(root, "project/.tau") });
    expect([loader.resources.systemPrompt?.content, loader.problems]).toEqual(["mine", []]);
  });

  test("calls all listeners with what a reload changed, and none if nothing changed", async () => {
    const root = await directory(everything);
    const loader = await open(root);
    const told: (readonly string[])[] = [];
    const stop = loader.subscribe((changed) => told.push(changed));
    const before = loader.resources;
    expect(await loader.reload()).toEqual([]);
    expect(loader.resources).toBe(before);
    await write(root, { "project/AGENTS.md": "changed", "project/.tau/prompts/q.md": "changed" });
    expect(await loader.reload()).toEqual(["contextFiles", "promptTemplates"]);
    expect(lines(loader.resources, root)).toContain("context: changed");
    expect(lines(before, root)).toContain("context: its context");
    stop();
    await rm(join(root, "project/.tau/SYSTEM.md"));
    expect(await loader.reload()).toEqual(["systemPrompt"]);
    expect(loader.resources.systemPrompt?.content).toBe("my system");
    expect(told).toEqual([["contextFiles", "promptTemplates"]]);
  });

  test("keeps the last content of damaged files, drops removed files, and reports every problem", async () => {
    const root = await directory(everything);
    const loader = await open(root);
    const before = lines(loader.resources, root);
    const damaged = ["project/AGENTS.md", "project/.tau/SYSTEM.md", "agent/APPEND_SYSTEM.md", "agent/prompts/p.md"];
    await write(root, Object.fromEntries(damaged.map((name) => [name, Buffer.from([0])])));
    await write(root, { "agent/skills/a/SKILL.md": "---\nname: [\n---\n" });
    expect(await loader.reload()).toEqual([]);
    expect(await loader.reload()).toEqual([]);
    expect(lines(loader.resources, root)).toEqual(before);
    const named = new Set(loader.problems.map(({ file }) => file.slice(root.length + 1)));
    expect([...damaged, "agent/skills/a/SKILL.md"].filter((name) => !named.has(name))).toEqual([]);
    await rm(join(root, "agent/skills"), { recursive: true });
    expect(await loader.reload()).toEqual(["skills"]);
    expect(lines(loader.resources, root)).toContain("skill a: its");
  });

  test("calls all listeners if one fails, and stays usable", async () => {
    const root = await directory({});
    const loader = await open(root);
    let told = 0;
    loader.subscribe(() => {
      throw new Error("broken listener");
    });
    loader.subscribe(() => told++);
    await write(root, { "agent/SYSTEM.md": "one" });
    await expect(loader.reload()).rejects.toThrow("broken listener");
    expect([told, loader.resources.systemPrompt?.content]).toEqual([1, "one"]);
    expect(await loader.reload()).toEqual([]);
  });

  test("never mixes two reloads: the last state of the files counts", async () => {
    const root = await directory({ "agent/prompts/p.md": "p" });
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    let isHeld = false;
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async readdir(path) {
        // Only the first reload waits here, with the old text in its hands.
        if (isHeld && path === join(root, "agent/prompts")) {
          isHeld = false;
          await gate;
        }
        return await nodeFileSystem.readdir(path);
      },
    };
    const loader = await open(root, { fileSystem });
    await write(root, { "agent/SYSTEM.md": "one" });
    isHeld = true;
    const first = loader.reload();
    await expect.poll(() => isHeld).toBe(false);
    await write(root, { "agent/SYSTEM.md": "two" });
    let isSecondDone = false;
    const second = loader.reload().then(() => (isSecondDone = true));
    for (let tick = 0; tick < 500 && !isSecondDone; tick++) await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all([first, second]);
    expect(loader.resources.systemPrompt?.content).toBe("two");
  });

  test("survives every failing call to the disk", async () => {
    const root = await directory(everything);
    const clean = faultyFileSystem(nodeFileSystem);
    await open(root, { fileSystem: clean });
    for (let at = 1; at <= clean.calls.length; at++) {
      const loader = await open(root, { fileSystem: faultyFileSystem(nodeFileSystem, { at }) });
      expect(loader.resources.contextFiles.length).toBeGreaterThan(0);
    }
  });
});

describe("a named agent", () => {
  const files = {
    "agent/agents/reviewer/system-prompt.md": "You review.\n",
    "agent/agents/reviewer/tools.yaml": "tools: [read, grep]\n",
    "agent/agents/reviewer/resources/skills/a/SKILL.md": skill("a", "the reviewer's"),
    "agent/agents/reviewer/resources/prompts/p.md": "the reviewer's p",
    "agent/agents/plain/notes": "",
  };

  test("has its own prompt, tools, skills and templates", async () => {
    const root = await directory({ ...everything, ...files });
    const agentDir = join(root, "agent");
    const agent = await loadNamedAgent(agentDir, "reviewer");
    expect(agent.tools.only).toEqual(["read", "grep"]);
    expect(agent.problems).toEqual([]);
    const loader = await open(root, { agentName: "reviewer" });
    const all = lines(loader.resources, root);
    expect(all).toEqual(
      expect.arrayContaining(["system: You review.", "skill a: the reviewer's", "template p: the reviewer's p"]),
    );
    expect(await listNamedAgents(agentDir)).toEqual(["plain", "reviewer"]);
  });

  test("may have a name in any script; a directory whose name is not valid is not listed", async () => {
    const root = await directory({ "agent/agents/レビュー/tools.yaml": "tools: [read]\n", "agent/agents/a b/x": "" });
    const agentDir = join(root, "agent");
    expect((await loadNamedAgent(agentDir, "レビュー")).tools.only).toEqual(["read"]);
    expect(await listNamedAgents(agentDir)).toEqual(["レビュー"]);
  });

  test("is reloaded with the rest, and one that was removed keeps its last state", async () => {
    const root = await directory(files);
    const loader = await open(root, { agentName: "reviewer" });
    await write(root, { "agent/agents/reviewer/tools.yaml": "tools: { bash: false }\n" });
    expect(await loader.reload()).toEqual(["agent"]);
    expect(loader.resources.agent?.tools.tools).toEqual([{ name: "bash", enabled: false, options: {} }]);
    await write(root, { "agent/agents/reviewer/system-prompt.md": "You look.\n" });
    expect(await loader.reload()).toEqual(["agent", "systemPrompt"]);
    await rm(join(root, "agent/agents/reviewer"), { recursive: true });
    await loader.reload();
    expect(loader.resources.systemPrompt?.content).toBe("You look.");
    expect(loader.problems.map(({ message }) => message)).toEqual([expect.stringContaining("Its last state is used.")]);
    await expect(open(root, { agentName: "reviewer" })).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("without files of its own has the defaults", async () => {
    const root = await directory(files);
    const agent = await loadNamedAgent(join(root, "agent"), "plain");
    expect([agent.systemPrompt, agent.tools.only, agent.tools.tools.length, agent.resourcesDir]).toEqual([
      undefined,
      undefined,
      0,
      undefined,
    ]);
  });

  test("whose tools.yaml is damaged keeps its last tools, or has none", async () => {
    const root = await directory(files);
    const agentDir = join(root, "agent");
    const before = await loadNamedAgent(agentDir, "reviewer");
    await write(root, {
      "agent/agents/reviewer/tools.yaml": "tools: [read",
      "agent/agents/reviewer/system-prompt.md": Buffer.from([0]),
    });
    const after = await loadNamedAgent(agentDir, "reviewer", { lastGood: before });
    expect([after.tools, after.systemPrompt]).toEqual([before.tools, before.systemPrompt]);
    expect(after.problems).toHaveLength(2);
    expect((await loadNamedAgent(agentDir, "reviewer")).tools.only).toEqual([]);
  });

  test("that does not exist, or whose name is not valid, throws", async () => {
    const root = await directory(files);
    const agentDir = join(root, "agent");
    await expect(loadNamedAgent(agentDir, "reviwer")).rejects.toThrow(
      /no agent "reviwer"\. Did you mean "reviewer" or "review"\? There are: explore, general, plain, plan, review, reviewer\./,
    );
    for (const name of ["..", "../agents/reviewer", "", ".hidden", "a/b", "x".repeat(65)]) {
      await expect(loadNamedAgent(agentDir, name)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });
});

describe("the agent directory itself", () => {
  const files = {
    "agent/system-prompt.md": "You are mine.\n",
    "agent/tools.yaml": "tools: [read]\n",
    "agent/resources/skills/a/SKILL.md": skill("a", "a resource"),
    "agent/resources/prompts/p.md": "a resource",
    "agent/agents/plain/notes": "",
  };

  test("has a prompt, tools and resources like a named agent, which replaces them", async () => {
    const root = await directory({ ...everything, ...files });
    const loader = await open(root);
    expect(lines(loader.resources, root)).toEqual(
      expect.arrayContaining(["system: You are mine.", "skill a: a resource", "template p: a resource"]),
    );
    expect(loader.resources.agent).toMatchObject({ name: undefined, tools: { only: ["read"] } });
    const named = await open(root, { agentName: "plain" });
    expect(named.resources.agent).toMatchObject({ name: "plain", tools: { only: undefined } });
    expect(lines(named.resources, root)).toEqual(expect.arrayContaining(["system: its system", "skill a: mine"]));
  });

  test("has no tools if its tools.yaml is a link that leads nowhere", async () => {
    const root = await directory({ "agent/x": "" });
    await symlink("gone.yaml", join(root, "agent/tools.yaml"));
    const loader = await open(root);
    expect(loader.resources.agent?.tools.only).toEqual([]);
    expect(loader.problems.map(({ file }) => file)).toEqual([join(root, "agent/tools.yaml")]);
  });

  test("has no tools if its tools.yaml cannot be understood", async () => {
    const root = await directory({ "agent/tools.yaml": "tools: [read" });
    const loader = await open(root);
    expect(loader.resources.agent?.tools.only).toEqual([]);
    expect(loader.problems.map(({ file }) => file)).toEqual([join(root, "agent/tools.yaml")]);
  });
});

test("a file that a list names and that is found anyway has no collision with itself", async () => {
  const root = await directory({
    "agent/skills/a/SKILL.md": skill("a", "mine"),
    "agent/skills/b.md": skill("b", "mine"),
    "agent/prompts/p.md": "my p",
  });
  const agent = (name: string) => `+${join(root, "agent", name)}`;
  const lists = {
    skills: ["!*", agent("skills/a/SKILL.md"), agent("skills/b.md")],
    prompts: ["!*", agent("prompts/p.md")],
  };
  const { resources, problems } = await open(root, { lists: () => lists });
  expect([...resources.skills, ...resources.promptTemplates].map(({ name }) => name)).toEqual(["a", "b", "p"]);
  expect(problems).toEqual([]);
});

test("a file of a package that is no skill is not reported, and one that the user names is", async () => {
  const root = await directory({
    "package/skills/README.md": "About.",
    "package/skills/a/SKILL.md": skill("a", "its"),
  });
  const readme = join(root, "package/skills/README.md");
  const paths = { skills: [readme, join(root, "package/skills/a/SKILL.md")], prompts: [] };
  const ofPackage = await open(root, { packagePaths: async () => paths });
  expect(ofPackage.resources.skills.map(({ name }) => name)).toEqual(["a"]);
  expect(ofPackage.problems).toEqual([]);
  const named = [{ skillPaths: [readme] }, { lists: () => ({ skills: [readme], prompts: [] }) }];
  for (const options of named) expect((await open(root, options)).problems).toMatchObject([{ file: readme }]);
});
