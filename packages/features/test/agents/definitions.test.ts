/** The definitions in `/agents`, with the dialogs that every surface has. */
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAgents } from "@tau/config/resources";
import { expect, onTestFinished, test } from "vitest";
import { findNameProblem, listDefinitionRows } from "../../src/agents/definitions/definition-rows.ts";
import { setsPolicy } from "../../src/agents/definitions/definition-text.ts";
import { type Dialog, DialogSurface } from "../dialogs.ts";
import { openPlay } from "./script.ts";

type Answers = ConstructorParameters<typeof DialogSurface>[0];

/** Chooses the first option that matches. */
const choose =
  (pattern: RegExp) =>
  ({ options = [] }: Dialog) =>
    options.find((option) => pattern.test(option)) ?? `none of ${options.join(" | ")}`;

const leave = undefined;

async function openAgents() {
  const agentDir = await realpath(await mkdtemp(join(tmpdir(), "tau-agents-")));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true }));
  const { session, prompt } = await openPlay({}, { agentDir });
  const { cwd } = session;
  const userDir = join(agentDir, "agents");
  const projectDir = join(cwd, ".tau", "agents");
  await mkdir(userDir, { recursive: true });
  await mkdir(projectDir, { recursive: true });
  /** Runs `/agents` with a person who gives these answers, and then leaves. */
  const run = async (...answers: NonNullable<Answers>) => {
    const surface = new DialogSurface([...answers, leave]);
    const stop = session.onFirstExtension(async () => void (await session.attachSurface(surface)));
    onTestFinished(stop);
    if (session.extensions) await session.attachSurface(surface);
    await prompt("/agents");
    return surface;
  };
  return { run, userDir, projectDir, cwd, agentDir };
}

const load = async (agentDir: string, name: string) =>
  (await findAgents({ agentDir })).find((agent) => agent.name === name);

test("a session without sub-agents lists the definitions with their source and description", async () => {
  const { run, userDir } = await openAgents();
  await writeFile(join(userDir, "mine.md"), "---\ndescription: Does mine.\ntools: read, nosuch\n---\nText.\n");
  const { dialogs } = await run();
  expect(dialogs[0]!.title).toBe("Agents");
  expect(dialogs[0]!.options).toContain("mine (user, 1 problem): Does mine.");
  expect(dialogs[0]!.options!.find((option) => option.startsWith("explore"))).toMatch(
    /^explore \(built-in.*\): Finds out/,
  );
  expect(dialogs[0]!.options!.at(-1)).toBe("New agent");
});

test("one is shown with its text and its problems with their lines, and nothing is written", async () => {
  const { run, userDir } = await openAgents();
  const path = join(userDir, "mine.md");
  const text = "---\ndescription: Does mine.\ntools: read, nosuch\n---\nText.\u{1b}[2J\n";
  await writeFile(path, text);
  const { dialogs } = await run(choose(/^mine/), choose(/^Show/), "changed");
  expect(dialogs[1]!.title).toContain(`${path}:3: `);
  expect(dialogs[2]).toMatchObject({ kind: "editor", prefill: text.replace("\u{1b}", "\\u{1b}") });
  expect(dialogs[2]!.title).toContain(`${path}:3: `);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("a new agent of the user is written, and is in the list at once", async () => {
  const { run, userDir, agentDir } = await openAgents();
  const description = 'Looks for holes: "all" of # them';
  const make = [choose(/^New agent/), choose(/^For yourself/), " security ", description, "Look for holes.\n"] as const;
  const { dialogs, notices } = await run(...make);
  expect(dialogs.at(-1)!.options).toContain(`security (user): ${description}`);
  const path = join(userDir, "security.md");
  expect(notices).toEqual([`Wrote ${path}. Start it with tau --agent security.`]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const found = await load(agentDir, "security");
  expect(found).toMatchObject({ problems: [], agent: { systemPrompt: { content: "Look for holes." } } });
  expect(found!.agent!.definition!.description).toBe(description);
});

test("a file that exists is never overwritten, and the text is shown again", async () => {
  const { run, projectDir, userDir } = await openAgents();
  const path = join(userDir, "late.md");
  const writeMeanwhile = async () => {
    await writeFile(path, "Of another.");
    return "My text.";
  };
  const { dialogs, notices } = await run(
    choose(/^New agent/),
    choose(/^For yourself/),
    "late",
    "Late.",
    writeMeanwhile,
    leave,
  );
  expect(notices).toEqual([`${path} exists already, so it was not written.`]);
  expect(dialogs.filter(({ kind }) => kind === "editor").map(({ prefill }) => prefill)).toEqual(["", "My text."]);
  expect(await readFile(path, "utf8")).toBe("Of another.");
  expect(await readdir(userDir)).toEqual(["late.md"]);
  expect(await readdir(projectDir)).toEqual([]);
});

test("an answer that stays the same does not ask for ever", async () => {
  const { run, userDir } = await openAgents();
  const writeMeanwhile = async () => {
    await writeFile(join(userDir, "late.md"), "Of another.");
    return "Mine.";
  };
  const { notices } = await run(
    choose(/^New agent/),
    choose(/^For yourself/),
    "late",
    "Late.",
    writeMeanwhile,
    "Mine.",
  );
  expect(notices).toHaveLength(2);
});

test("names that cannot be used are refused with the reason", async () => {
  const { run, userDir } = await openAgents();
  const { notices } = await run(choose(/^New agent/), choose(/^For yourself/), "../evil");
  expect(notices[0]).toMatch(/^"\.\.\/evil" is not a valid name of an agent\. Use letters/);
  expect(await readdir(userDir)).toEqual([]);
  const agents = [{ name: "Plan", source: "built-in" }] as const;
  expect(findNameProblem("plan", agents)).toMatch(/^There is an agent Plan \(built-in\) already\./);
  expect(findNameProblem("README", agents)).toContain("is not read as an agent");
  expect(findNameProblem("planner", agents)).toBeUndefined();
});

test("a file of the project is written only after a question about trust", async () => {
  const { run, projectDir } = await openAgents();
  const make = [choose(/^New agent/), choose(/^For this project/), "ours", "Ours."] as const;
  const refused = await run(...make, "no");
  expect(refused.dialogs.find(({ kind }) => kind === "confirm")!.title).toMatch(/ours\.md\?\n.*trust it again/);
  expect(await readdir(projectDir)).toEqual([]);
  const { notices } = await run(...make, "yes", "Our text.");
  expect(notices[0]).toMatch(/ours\.md\. .* trust it again: tau trust$/);
  const path = join(projectDir, "ours.md");
  expect(await readFile(path, "utf8")).toBe('---\ndescription: "Ours."\n---\n\nOur text.\n');

  await run(choose(/^ours \(project\)/), choose(/^Edit/), "no");
  await run(choose(/^ours \(project\)/), choose(/^Edit/), "yes", "Other text.");
  expect(await readFile(path, "utf8")).toBe("Other text.");
});

test("an edit keeps links and permissions, and does not replace what was changed meanwhile", async () => {
  const { run, userDir, cwd } = await openAgents();
  const target = join(cwd, "dotfile.md");
  await writeFile(target, "One.");
  await chmod(target, 0o640);
  const path = join(userDir, "mine.md");
  await symlink(target, path);
  const { dialogs } = await run(choose(/^mine/), choose(/^Edit/), "Two.");
  expect(dialogs.find(({ kind }) => kind === "editor")).toMatchObject({ title: path, prefill: "One." });
  expect(await readFile(target, "utf8")).toBe("Two.");
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect((await stat(target)).mode & 0o777).toBe(0o640);

  const changeMeanwhile = async () => {
    await writeFile(target, "Of another.");
    return "Three.";
  };
  const { notices } = await run(choose(/^mine/), choose(/^Edit/), changeMeanwhile, leave);
  expect(notices).toEqual([`${path} was changed meanwhile, so it was not written. Look at it again.`]);
  expect(await readFile(target, "utf8")).toBe("Of another.");
});

test("a link of the project that leads out of it is not followed to write", async () => {
  const { run, projectDir, agentDir } = await openAgents();
  const outside = join(agentDir, "outside.md");
  await writeFile(outside, "One.");
  await symlink(outside, join(projectDir, "ours.md"));
  const { notices } = await run(choose(/^ours/), choose(/^Edit/), "yes", "Two.", leave);
  expect(notices[0]).toContain("outside of the project");
  expect(await readFile(outside, "utf8")).toBe("One.");
});

test("the prompt of an agent that is a directory is edited, and a file that is not text is not", async () => {
  const { run, userDir } = await openAgents();
  await mkdir(join(userDir, "whole"));
  await run(choose(/^whole/), choose(/^Edit/), "A prompt.");
  expect(await readFile(join(userDir, "whole", "system-prompt.md"), "utf8")).toBe("A prompt.");
  const bytes = Buffer.from([0x41, 0xff, 0xfe, 0x42]);
  await writeFile(join(userDir, "binary.md"), bytes);
  const { notices } = await run(choose(/^binary/), choose(/^Edit/));
  expect(notices[0]).toContain("is not text in UTF-8");
  expect(await readFile(join(userDir, "binary.md"))).toEqual(bytes);
});

test("an agent that comes with tau is copied, with all that it has", async () => {
  const { run, agentDir, cwd } = await openAgents();
  for (const name of ["explore", "review", "plan", "general"]) {
    const before = await load(join(cwd, "empty"), name);
    const keep = ({ prefill }: Dialog) => prefill;
    const { dialogs } = await run(choose(new RegExp(`^${name} \\(built-in`)), choose(/^Copy to your/), keep);
    expect(dialogs[1]!.options).not.toContain("Edit");
    const after = await load(agentDir, name);
    expect(after).toMatchObject({ source: "user", problems: [] });
    expect(after!.agent!.systemPrompt!.content).toBe(before!.agent!.systemPrompt!.content);
    expect(after!.agent!.tools).toEqual(before!.agent!.tools);
    expect(after!.agent!.definition!.model).toBe(before!.agent!.definition!.model);
    expect(after!.agent!.definition!.description).toBe(before!.agent!.definition!.description);
  }
});

test("an agent of a package is copied as it is, and a policy that could loosen things now is reported", async () => {
  const { userDir, agentDir, cwd } = await openAgents();
  const path = join(cwd, "packaged.md");
  const text = "---\nname: deploy\npolicy: permissive\n---\nDeploy.\n";
  await writeFile(path, text);
  const agent = { name: "deploy", description: "", source: "package", path, isolated: false, problems: [] } as const;
  const tau = { getAgents: async () => [{ ...agent, model: undefined, tools: undefined }] };
  const { ui, notices } = new DialogSurface([({ prefill }) => prefill]);
  const rows = await listDefinitionRows({ ui, tau, directories: { agentDir, cwd } });
  const labels = rows[0]!.actions.map(({ label }) => label);
  expect(labels).toEqual(["Show", "Copy to your agents and edit", "Copy to this project and edit"]);
  await rows[0]!.actions[1]!.run();
  expect(await readFile(join(userDir, "deploy.md"), "utf8")).toBe(text);
  expect(notices.at(-1)).toMatch(/^The agent deploy sets a policy\./);
});

test("in the home directory there are no agents of a project", async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), "tau-home-")));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  await mkdir(join(home, ".tau"));
  const tau = { getAgents: async () => [] };
  const { ui } = new DialogSurface();
  const rows = await listDefinitionRows({ ui, tau, directories: { agentDir: join(home, ".tau"), cwd: home } });
  expect(rows.at(-1)!.actions.map(({ label }) => label)).toEqual(["For yourself, in all projects"]);
});

test.each([
  ["---\npolicy: permissive\n---\nText", true],
  ["---\ndescription: a\n---\nThe policy: none", false],
  ["policy: permissive", false],
])("whether %j sets a policy is %j", (text, expected) => expect(setsPolicy(text)).toBe(expected));
