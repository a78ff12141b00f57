/** Rules in real sessions: which answers they stop, and what they never do. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { watch } from "../../src/index.ts";
import { findRules } from "../../src/watch/find-rules.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];
interface Place {
  user?: Record<string, string>;
  project?: Record<string, string>;
}

const rule = (match: string, body: string, more = "") => `---\nmatch: ${match}\n${more}---\n${body}\n`;

async function open(turns: Turns, { user = {}, project = {} }: Place, params: TestSessionParams = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-watch-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [agentDir, cwd] = [join(root, "agent"), join(root, "work")];
  const write = async (directory: string, files: Record<string, string>) => {
    await mkdir(directory, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(join(directory, `${name}.md`), content);
  };
  await write(join(agentDir, "watch"), user);
  await write(join(cwd, ".tau", "watch"), project);
  const opened = await createTestSession(turns, { features: [watch()], agentDir, cwd, ...params });
  onTestFinished(() => opened.dispose());
  const entries = () => opened.session.messages.filter(({ role }) => (role as string) === "custom");
  return { ...opened, root, agentDir, entries };
}

const write = (content: string) => call("write", { path: "a.txt", content });

test("an answer that a rule stops runs none of its calls, and the model is asked again with the rule", async () => {
  const { prompt, session, entries, cwd } = await open([[text("I use var."), write("var x")], [text("Sorry.")]], {
    user: { style: rule("\\bvar\\b", "Use const.") },
  });
  const outcome = await prompt("go");
  expect(outcome).toMatchObject({ end: { kind: "done" } });
  const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  expect(results.map(({ isError }) => isError)).toEqual([true]);
  expect(JSON.stringify(results[0]!.content)).toContain('the rule \\"style\\" stopped this answer');
  expect(JSON.stringify(entries())).toContain("Use const.");
  await expect(rm(join(cwd, "a.txt"))).rejects.toThrow("ENOENT");
});

test("an answer without calls is asked for again too, as a step of the same run", async () => {
  const { prompt, events, session } = await open([[text("I guess so.")], [text("It is 3.")]], {
    user: { guess: rule("(?i)i guess", "Look it up.") },
  });
  await prompt("how many?");
  expect(events.filter(({ type }) => type === "agent_start")).toHaveLength(1);
  expect(session.messages.at(-1)).toMatchObject({ content: [{ text: "It is 3." }] });
  // Both answers are part of what the run cost.
  expect(events.find(({ type }) => type === "agent_end")).toMatchObject({ totalTurns: 2 });
});

test("a rule stops once a run, with `repeat` more often, and all rules together three times", async () => {
  const once = await open(
    [1, 2, 3, 4].map((index) => [text(`bad ${index}`)]),
    { user: { a: rule("bad", "No.") } },
  );
  await once.prompt("go");
  expect(once.entries()).toHaveLength(1);
  await once.prompt("again");
  expect(once.entries()).toHaveLength(2);
  const turns = Array.from({ length: 4 }, (_unused, index) => [text(`bad ${index}`)]);
  const repeated = await open(turns, { user: { a: rule("bad", "No.", "repeat: true\n") } });
  await repeated.prompt("go");
  expect(repeated.entries()).toHaveLength(3);
});

test.each([
  ["text", "", [text("secret")], 1],
  ["text", "scope: thinking\n", [text("secret")], 0],
  ["thinking", "scope: thinking\n", [{ type: "thinking" as const, thinking: "secret" }, text("x")], 1],
  ["thinking", "", [{ type: "thinking" as const, thinking: "secret" }, text("x")], 0],
  ["arguments", "scope: arguments\n", [call("ls", { path: "secret" })], 1],
  ["arguments", "scope: arguments:ls\n", [call("ls", { path: "secret" })], 1],
  ["arguments", "scope: arguments:read\n", [call("ls", { path: "secret" })], 0],
  ["nested arguments", "scope: [thinking, arguments]\n", [call("ls", { path: "x", more: [{ deep: "secret" }] })], 1],
])("%s are looked at with %j: %#", async (_part, scope, answer, count) => {
  const { prompt, entries } = await open(
    [answer, [text("Done.")], [text("Done.")]] as Turns,
    {
      user: { a: rule("secret", "No.", scope) },
    },
    { scripted: {} },
  );
  await prompt("go").catch(() => undefined);
  expect(entries()).toHaveLength(count);
});

test("rules of a project count only while it is trusted", async () => {
  const project = { a: rule("bad", "No.") };
  const strange = await open([[text("bad")]], { project });
  await strange.session.settingsManager.setProjectTrusted(false);
  await strange.prompt("go");
  expect(strange.entries()).toHaveLength(0);
  const trusted = await open([[text("bad")], [text("good")], [text("bad")]], { project });
  await trusted.session.settingsManager.setProjectTrusted(true);
  await trusted.prompt("go");
  expect(trusted.entries()).toHaveLength(1);
  await trusted.session.settingsManager.setProjectTrusted(false);
  await trusted.prompt("go");
  expect(trusted.entries()).toHaveLength(1);
});

test("a rule that is refused is reported with its file and the reason, and the others count", async () => {
  const user = {
    a: rule("(a+)\\1", "No."),
    b: "no front matter",
    c: rule("bad", "No."),
    d: rule("x", ""),
    e: rule("x", "No.", "scope: all\n"),
  };
  const messages: string[] = [];
  const { prompt, entries, session } = await open([[text("bad")], [text("good")]], { user });
  const { SurfaceUi } = await import("../kit.ts");
  const surface = new SurfaceUi();
  surface.ui.notify = (message: string) => void messages.push(message);
  await session.attachSurface(surface);
  await prompt("go");
  expect(entries()).toHaveLength(1);
  expect(messages.map((message) => /watch\/(\w)\.md is not used\. (.*)$/s.exec(message)?.slice(1))).toEqual([
    ["a", expect.stringContaining("refers back")],
    ["b", expect.stringContaining("`match`")],
    ["d", expect.stringContaining("no text")],
    ["e", expect.stringContaining("`scope`")],
  ]);
});

test("rules that are too large together are refused, those of the project before those of the user", async () => {
  const large = (letter: string) => rule(`${letter}{450}`, "No.");
  const user = Object.fromEntries([..."abcd"].map((letter) => [letter, large(letter)]));
  const { agentDir, root } = await open([], { user, project: { a: large("x"), z: rule("bad", "No.") } });
  const settings = { isProjectTrusted: true } as never;
  const { rules, refused } = await findRules({ agentDir, cwd: join(root, "work"), settings });
  expect(rules.map(({ path }) => basename(path))).toEqual(["a.md", "b.md", "c.md", "d.md", "z.md"]);
  expect(refused).toMatchObject([{ reason: "With its patterns all rules together have more than 2000 steps." }]);
  expect(refused[0]!.path).toMatch(/\.tau\/watch\/a\.md$/);
});

test("an answer that was aborted is not asked for again", async () => {
  const { prompt, entries, session } = await open([[text("bad")]], { user: { a: rule("bad", "No.") } });
  session.subscribe((event) => {
    if (event.type === "message_end" && event.message.role === "assistant") void session.abort();
  });
  const outcome = await prompt("go");
  expect(outcome).toMatchObject({ end: { kind: "aborted" } });
  expect(entries()).toHaveLength(0);
});

test("without a directory of rules nothing is loaded", async () => {
  const { agentDir, prompt, root } = await open([[text("bad")]], {});
  await rm(join(agentDir, "watch"), { recursive: true });
  await rm(join(root, "work", ".tau"), { recursive: true });
  let loads = 0;
  const feature = watch();
  const observed = { ...feature, load: (place: Parameters<typeof feature.load>[0]) => (loads++, feature.load(place)) };
  const other = await createTestSession([[text("bad")]], { features: [observed] });
  onTestFinished(() => other.dispose());
  await other.prompt("go");
  await prompt("go");
  expect(loads).toBe(0);
});
