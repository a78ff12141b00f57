import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { SettingsManager } from "@tau/config/settings";
import { type Desk, openDesk, sayTool, temporaryDirectory } from "./desk.ts";

const getBreaks = ({ events }: Desk) =>
  events.flatMap((event) => (event.type === "cache_break" ? [`${event.segment}: ${event.reason}`] : []));

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;

async function hasPrompt(desk: Desk, content: string): Promise<void> {
  await expect.poll(() => desk.session.systemPrompt).toContain(content);
}

test("a file that changes on disk counts from the next prompt on, and the cache break names it", async () => {
  const desk = await openDesk([[text("one")], [text("two")], [text("three")]]);
  await desk.session.prompt("First.");
  const path = join(desk.directory, "AGENTS.md");
  await writeFile(path, "Use tabs here.");
  const skillPath = join(desk.directory, "agent", "skills", "fix", "SKILL.md");
  await mkdir(join(skillPath, ".."), { recursive: true });
  await writeFile(skillPath, skill("fix"));
  await hasPrompt(desk, "Use tabs here.");
  await hasPrompt(desk, "does fix");
  await desk.session.prompt("Second.");
  expect(desk.model.asked[1]!.context.systemPrompt).toContain("Use tabs here.");
  expect(getBreaks(desk)).toEqual([`system.skills: These files changed: ${path}, ${skillPath}`]);
  await rm(path);
  await expect.poll(() => desk.session.systemPrompt).not.toContain("Use tabs here.");
  await desk.session.prompt("Third.");
  expect(getBreaks(desk)[1]).toBe(`system.environment: These files changed: ${path}`);
});

test("a run keeps its prompt and its tools, whatever changes during it", async () => {
  const directory = await temporaryDirectory();
  const change = sayTool("change", async () => {
    await writeFile(join(directory, "AGENTS.md"), "Use tabs here.");
    await mkdir(join(directory, "agent"), { recursive: true });
    await writeFile(join(directory, "agent", "tools.yaml"), "tools: [read]");
    await desk.session.reload();
    // Another reason to build tools and prompt again.
    desk.session.setTools(["read", "bash", change]);
    await desk.session.steer("Steered.");
    return "changed";
  });
  const turns = [[call("change", {})], [text("done")], [text("after")]];
  const desk: Desk = await openDesk(turns, { cwd: directory, tools: ["read", "bash", change] });
  await desk.session.prompt("First.");
  const [first, second] = desk.model.asked.map(({ context }) => context);
  expect(second!.systemPrompt).toBe(first!.systemPrompt);
  expect(second!.tools!.map(({ name }) => name)).toContain("bash");
  expect(getBreaks(desk)).toEqual([]);
  await desk.session.prompt("Second.");
  const third = desk.model.asked[2]!.context;
  expect(third.systemPrompt).toContain("Use tabs here.");
  expect(third.tools!.map(({ name }) => name)).toEqual(["read"]);
});

test("a problem that a change brings is told once", async () => {
  const desk = await openDesk([]);
  const directory = join(desk.directory, "agent", "skills", "broken");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "SKILL.md"), "---\nname: broken\n---\n");
  const getNotices = () => desk.session.notices.filter(({ message }) => message.includes("broken"));
  await expect.poll(getNotices).toHaveLength(1);
  await writeFile(join(desk.directory, "AGENTS.md"), "Use tabs here.");
  await hasPrompt(desk, "Use tabs here.");
  expect(getNotices()).toHaveLength(1);
});

test("a mistake in the settings that is made while a session is open is told once", async () => {
  const directory = await temporaryDirectory();
  const settingsManager = await SettingsManager.create(directory, directory, { watch: false });
  const sessionManager = await SessionManager.inMemory(directory);
  const session = await createAgentSession({ cwd: directory, agentDir: directory, settingsManager, sessionManager });
  onTestFinished(() => session.dispose());
  await writeFile(join(directory, "settings.json"), '{ "tools": { "excluded": ["bash"] } "theme": "dark" }');
  await settingsManager.reload();
  await settingsManager.reload();
  expect(session.notices.filter(({ code }) => code === "settings")).toEqual([
    { code: "settings", message: expect.stringMatching(/settings\.json:1:\d+: A comma is missing/) as string },
  ]);
});

test("a skill that is added later may be read without a question, but not what lies beside its file", async () => {
  const directory = await temporaryDirectory();
  const [cwd, more] = [join(directory, "project"), join(directory, "more")];
  for (const path of [cwd, more, join(directory, "tmp")]) await mkdir(path);
  await writeFile(join(more, "quick.md"), skill("quick"));
  await writeFile(join(more, "diary.txt"), "Dear diary");
  // Temporary files may always be read.
  vi.stubEnv("TMPDIR", join(directory, "tmp"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const read = (name: string) => call("read", { path: join(more, name) });
  const desk = await openDesk([[read("quick.md"), read("diary.txt")], [text("done")]], { cwd });
  await desk.session.settingsManager.update("global", { skills: [join(more, "quick.md")] });
  await hasPrompt(desk, "does quick");
  await desk.session.prompt("Read.");
  const results = desk.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  expect(results.map(({ isError }) => isError)).toEqual([false, true]);
});

test("with `watch: false` a change counts after a reload", async () => {
  const desk = await openDesk([], { watch: false });
  await writeFile(join(desk.directory, "AGENTS.md"), "Use tabs here.");
  expect(await desk.session.reload()).toEqual(["contextFiles"]);
  expect(desk.session.systemPrompt).toContain("Use tabs here.");
});

test("the lists of a trusted project join those of the user", async () => {
  const directory = await temporaryDirectory();
  const [cwd, own] = [join(directory, "project"), join(directory, "own")];
  for (const path of [join(cwd, ".tau"), own]) await mkdir(path, { recursive: true });
  await writeFile(join(own, "mine.md"), skill("mine"));
  await writeFile(join(own, "old.md"), skill("old"));
  await writeFile(join(cwd, ".tau", "theirs.md"), skill("theirs"));
  await writeFile(join(cwd, ".tau", "settings.json"), JSON.stringify({ skills: ["theirs.md", "!old.md"] }));
  const settingsManager = await SettingsManager.create(cwd, join(directory, "agent"), { projectTrusted: true });
  const desk = await openDesk([], { cwd, settingsManager });
  await desk.session.settingsManager.update("global", { skills: [own] });
  await hasPrompt(desk, "does mine");
  expect(desk.session.systemPrompt).toContain("does theirs");
  expect(desk.session.systemPrompt).not.toContain("does old");
});

test("a change of the lists in the settings loads skills and templates again", async () => {
  const desk = await openDesk([]);
  await mkdir(join(desk.directory, "more"));
  await writeFile(join(desk.directory, "more", "quick.md"), skill("quick"));
  await desk.session.settingsManager.update("global", { skills: [join(desk.directory, "more")] });
  await hasPrompt(desk, "does quick");
  await desk.session.settingsManager.update("global", { skills: [join(desk.directory, "more"), "!quick.md"] });
  await expect.poll(() => desk.session.systemPrompt).not.toContain("does quick");
});
