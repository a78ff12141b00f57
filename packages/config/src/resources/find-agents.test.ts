import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { formatFileProblem } from "../files/file-problem.ts";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { findAgents } from "./find-agents.ts";
import { loadNamedAgent } from "./named-agent.ts";
import { createResourceLoader, type ResourceLoaderOptions } from "./resource-loader.ts";

async function createFiles(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-agents-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  await mkdir(join(root, "project"));
  await writeFiles(root, files);
  return root;
}

async function writeFiles(root: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}

const agent = (description: string, more = "") =>
  `---\ndescription: ${description}\n${more}---\nYou are ${description}.\n`;

const open = (root: string, options: Partial<ResourceLoaderOptions> = {}) =>
  createResourceLoader({
    cwd: join(root, "project"),
    agentDir: join(root, "agent"),
    home: join(root, "home"),
    isProjectTrusted: () => true,
    ...options,
  });

const builtIn = ["explore", "general", "plan", "review"];

test("agents of the project come before the user's, those before packages', and those before tau's, and each other one is reported", async () => {
  const root = await createFiles({
    "project/.tau/agents/a.md": agent("tau's project"),
    "project/.pi/agents/a.md": agent("pi's project"),
    "project/.pi/agents/b.md": agent("pi's b"),
    "project/.claude/agents/b.md": agent("claude's b"),
    "project/.claude/agents/deep/er/c.md": agent("claude's c"),
    "project/.claude/agents/README.md": "# Our agents",
    "agent/agents/a.md": agent("mine"),
    "agent/agents/c.md": agent("my c"),
    "agent/agents/d.md": agent("my d"),
    "agent/agents/d/system-prompt.md": "My directory.",
    "agent/agents/plan.md": agent("my plan"),
    "pack/agents/a.md": agent("packed"),
    "pack/agents/e.md": agent("packed e"),
  });
  const packed = ["a", "e"].map((name) => join(root, `pack/agents/${name}.md`));
  const loader = await open(root, { packagePaths: async () => ({ skills: [], prompts: [], agents: packed }) });
  const agents = await loader.findAgents!();
  expect(
    agents.map(({ name, source, path, agent: loaded }) =>
      [name, source, path?.slice(root.length + 1), loaded?.systemPrompt?.content.split("\n")[0]].join(" | "),
    ),
  ).toEqual([
    "a | project | project/.tau/agents/a.md | You are tau's project.",
    "b | project | project/.pi/agents/b.md | You are pi's b.",
    "c | project | project/.claude/agents/deep/er/c.md | You are claude's c.",
    "d | user | agent/agents/d | My directory.",
    "e | package | pack/agents/e.md | You are packed e.",
    expect.stringMatching(/^explore \| built-in \| {2}\| You answer questions/),
    expect.stringMatching(/^general \| built-in/),
    "plan | user | agent/agents/plan.md | You are my plan.",
    expect.stringMatching(/^review \| built-in/),
  ]);
  const problems = agents.flatMap((each) => each.problems.map(({ kind, file }) => `${kind} ${file}`));
  expect(problems).toEqual(
    [
      ["project/.pi/agents/a.md", "agent/agents/a.md", "pack/agents/a.md"],
      ["project/.claude/agents/b.md"],
      ["agent/agents/c.md"],
      ["agent/agents/d.md"],
    ]
      .flat()
      .map((name) => `collision ${join(root, name)}`),
  );
  expect(agents[0]!.problems[0]!.message).toBe(
    `The agent a of this file is ignored: ${join(root, "project/.tau/agents/a.md")} has the same name and has precedence. Rename one of them.`,
  );
});

test("of a project that is not trusted, no agent is read, and all its directories are named", async () => {
  const root = await createFiles({
    "project/.tau/agents/a.md": agent("a"),
    "project/.pi/agents/b.md": agent("b"),
    "project/.claude/agents/c.md": agent("c"),
  });
  const touched: string[] = [];
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    open: (path, ...rest) => (touched.push(path), nodeFileSystem.open(path, ...rest)),
    readdir: (path) => (touched.push(path), nodeFileSystem.readdir(path)),
  };
  const loader = await open(root, { isProjectTrusted: () => false, fileSystem });
  expect((await loader.findAgents!()).map(({ name }) => name)).toEqual(builtIn);
  expect(touched.filter((path) => path.includes("/agents") && path.includes("/project/"))).toEqual([]);
  expect(loader.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/ignored: \.tau\/agents, \.pi\/agents, \.claude\/agents\. To trust it: tau trust$/),
  ]);
  await expect(open(root, { agentName: "c", isProjectTrusted: () => false })).rejects.toThrow(
    /no agent "c"\..* Agents of the project \(\.tau\/agents, \.pi\/agents, \.claude\/agents\) can be used after tau trust\.$/,
  );
  const trusted = await open(root, { agentName: "c" });
  expect(trusted.resources.systemPrompt?.content).toBe("You are c.");
});

test("an agent of the project keeps its last state when the project is no longer trusted", async () => {
  const root = await createFiles({ "project/.tau/agents/a.md": agent("a", "tools: [read]\n") });
  let isTrusted = true;
  const loader = await open(root, { agentName: "a", isProjectTrusted: () => isTrusted });
  isTrusted = false;
  await writeFiles(root, { "project/.tau/agents/a.md": agent("something else") });
  await loader.reload();
  expect(loader.resources.agent?.tools.only).toEqual(["read"]);
  expect(loader.resources.systemPrompt?.content).toBe("You are a.");
  expect(loader.problems.map(({ message }) => message)).toContainEqual(
    expect.stringContaining("Its last state is used."),
  );
});

test("an agent whose file cannot be read has its name all the same, and no other agent is used instead", async () => {
  const root = await createFiles({ "agent/agents/other.md": agent("x") });
  await symlink(join(root, "nowhere"), join(root, "agent/agents/review.md"));
  await writeFile(join(root, "agent/agents/plan.md"), Buffer.from([0, 1, 2]));
  const agents = await findAgents({ agentDir: join(root, "agent") });
  expect(agents.map(({ name, source, agent: loaded }) => [name, source, loaded !== undefined])).toEqual([
    ["explore", "built-in", true],
    ["general", "built-in", true],
    ["other", "user", true],
    ["plan", "user", false],
    ["review", "user", false],
  ]);
  await expect(loadNamedAgent(join(root, "agent"), "review")).rejects.toThrow(
    /The agent review cannot be used\. .*review\.md: This is a link that leads nowhere/,
  );
});

test("a link of a project that leads out of it is not read", async () => {
  const root = await createFiles({ "secret/key.md": agent("secret"), "project/.git/HEAD": "" });
  await mkdir(join(root, "project/.claude/agents"), { recursive: true });
  await symlink(join(root, "secret/key.md"), join(root, "project/.claude/agents/a.md"));
  await symlink(join(root, "secret"), join(root, "project/.claude/agents/deep"));
  const agents = await (await open(root)).findAgents!();
  expect(agents.filter(({ source }) => source === "project").map(({ agent: loaded }) => loaded)).toEqual([undefined]);
  expect(JSON.stringify(agents)).not.toContain("You are secret");
});

test("the skills of an agent are those that it names, and an unknown one is a problem with its line", async () => {
  const skill = (name: string) => `---\nname: ${name}\ndescription: ${name}\n---\nDo it.`;
  const root = await createFiles({
    "agent/agents/a.md": agent("a", "skills: [one, tow]\n"),
    "agent/skills/one/SKILL.md": skill("one"),
    "agent/skills/two/SKILL.md": skill("two"),
  });
  const loader = await open(root, { agentName: "a" });
  expect(loader.resources.skills.map(({ name }) => name)).toEqual(["one"]);
  expect(loader.problems.map(formatFileProblem)).toEqual([
    `${join(root, "agent/agents/a.md")}:3: There is no skill "tow". Did you mean "two"?`,
  ]);
});

test("a change of its file is noticed, and a file that cannot be read any more keeps its last state", async () => {
  const root = await createFiles({ "agent/agents/a.md": agent("a") });
  const path = join(root, "agent/agents/a.md");
  const loader = await open(root, { agentName: "a" });
  await writeFile(path, agent("b", "tools: [read]\n"));
  expect(await loader.reload()).toEqual(["agent", "systemPrompt"]);
  await writeFile(path, Buffer.from([0]));
  expect(await loader.reload()).toEqual([]);
  expect(loader.resources.agent?.tools.only).toEqual(["read"]);
});

test("the agents that come with tau only read, but for general", async () => {
  const agents = await findAgents({ agentDir: "/nowhere" });
  expect(agents.map(({ name, agent: loaded }) => [name, loaded?.tools.only, loaded?.definition?.model])).toEqual([
    ["explore", ["read", "grep", "find", "ls"], "@smol"],
    ["general", undefined, undefined],
    ["plan", ["read", "grep", "find", "ls"], "@plan"],
    ["review", ["read", "grep", "find", "ls"], "@slow"],
  ]);
});
