/** Sub-agents of the packed program: when it is killed in the middle, and beside an extension that has its own. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply, toolReply } from "../kit.ts";
import { processesWith, runPacked, sleeping, start } from "./kit.ts";

/**
 * An extension in pi's form whose sub-agents are processes of the program that runs it, in JSON mode, with an agent of the
 * user's directory as their prompt.
 */
const subagentExtension = `import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type ExtensionAPI, getAgentDir, parseFrontmatter } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";

export default (pi: ExtensionAPI) =>
  pi.registerTool({
    name: "subagent",
    label: "Subagent",
    description: "Gives a task to an agent of its own.",
    parameters: Type.Object({ agent: Type.String(), task: Type.String() }),
    renderCall: ({ agent }, theme) => new Text(theme.fg("accent", agent), 0, 0),
    async execute(_id, { agent, task }, signal, onUpdate, ctx) {
      const file = join(getAgentDir(), "agents", agent + ".md");
      const { frontmatter } = parseFrontmatter(readFileSync(file, "utf8"));
      const flags = ["--mode", "json", "-p", "--no-session", "--model", ctx.model.provider + "/" + ctx.model.id];
      const prompt = ["--tools", frontmatter.tools, "--append-system-prompt", file, "Task: " + task];
      const child = spawn(process.execPath, [process.argv[1], ...flags, ...prompt], { cwd: ctx.cwd, stdio: ["ignore", "pipe", "pipe"] });
      signal?.addEventListener("abort", () => child.kill("SIGTERM"));
      const closed = new Promise((resolve) => child.once("close", resolve));
      let answer = "";
      let tokens = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        const { type, message } = JSON.parse(line);
        if (type !== "message_end" || message.role !== "assistant") continue;
        tokens += message.usage.totalTokens;
        answer = message.content.filter((part) => part.type === "text").map((part) => part.text).join("");
        onUpdate?.({ content: [{ type: "text", text: answer }], details: {} });
      }
      const details = { code: await closed, hasTokens: tokens > 0 };
      return { content: [{ type: "text", text: JSON.stringify({ answer, ...details }) }], details };
    },
  });
`;

async function addSubagentExtension(agentDir: string): Promise<void> {
  const directory = join(agentDir, "extensions", "subagent");
  await mkdir(directory, { recursive: true });
  await mkdir(join(agentDir, "agents"));
  await writeFile(join(directory, "index.ts"), subagentExtension);
  const agent = "---\nname: scout\ndescription: Looks around\ntools: read, bash\n---\nYou are a scout.\n";
  await writeFile(join(agentDir, "agents", "scout.md"), agent);
}

test("an extension with a tool subagent, whose agents are processes of the program, works beside tau's own", async () => {
  const command = sleeping();
  const workspace = await createModelWorkspace([
    toolReply("subagent", { agent: "scout", task: "look" }),
    toolReply("bash", { command: "echo seen" }),
    textReply("Their answer."),
    toolReply("task", { description: "look", prompt: "Look.", agent: "scout" }),
    textReply("Our answer."),
    textReply("Both answered."),
    // Interrupted.
    toolReply("subagent", { agent: "scout", task: "sleep" }),
    toolReply("bash", { command }),
  ]);
  await addSubagentExtension(workspace.agentDir);

  expect(await runPacked(workspace, ["-p", "Go."])).toEqual({
    code: 0,
    signal: null,
    out: "Both answered.\n",
    err: "",
  });
  const bodies = workspace.server.requests.map(
    ({ body }) => body as { tools: { function: { name: string } }[]; messages: unknown[] },
  );
  const toolsOf = (index: number) => bodies[index]!.tools.map(({ function: { name } }) => name);
  expect(toolsOf(0)).toEqual(expect.arrayContaining(["task", "subagent"]));
  for (const child of [1, 4]) expect(toolsOf(child)).toEqual(["read", "bash"]);
  for (const child of [1, 4]) expect(JSON.stringify(bodies[child]!.messages)).toContain("You are a scout.");
  expect(JSON.stringify(bodies[3]!.messages.at(-1))).toContain(
    JSON.stringify(JSON.stringify({ answer: "Their answer.", code: 0, hasTokens: true })).slice(1, -1),
  );
  expect(JSON.stringify(bodies[5]!.messages.at(-1))).toContain("Our answer.");

  const run = await start(workspace, ["-p", "Go."]);
  await expect.poll(() => processesWith(command).length, { timeout: 30_000 }).toBeGreaterThan(0);
  run.child.kill("SIGINT");
  await run.ended;
  await expect.poll(() => processesWith(command), { timeout: 20_000 }).toEqual([]);
});

const count = (text: string, part: string): number => text.split(part).length - 1;

test("after a kill the model knows which tasks ended and which were cut, and resumes those", async () => {
  const command = sleeping();
  const tasks = ["one", "two", "three"].map((description) => ({ description, prompt: `Do ${description}.` }));
  const workspace = await createModelWorkspace([
    toolReply("task", { tasks }),
    textReply("First done."),
    toolReply("bash", { command }),
    // After the kill.
    toolReply("task", { resume: "2", prompt: "Go on." }),
    textReply("Second done."),
    textReply("All done."),
  ]);
  // One after the other, so that the replies are in order.
  const path = join(workspace.agentDir, "settings.json");
  const settings = JSON.parse(await readFile(path, "utf8")) as object;
  await writeFile(path, JSON.stringify({ ...settings, agents: { maxConcurrent: 1 } }));

  const run = await start(workspace, ["--mode", "json", "Go."]);
  await expect.poll(() => processesWith(command).length, { timeout: 30_000 }).toBeGreaterThan(0);
  run.child.kill("SIGKILL");
  await run.ended;
  await expect.poll(() => processesWith(command), { timeout: 20_000 }).toEqual([]);

  expect(await runPacked(workspace, ["-c", "-p", "What happened?"])).toMatchObject({ code: 0, out: "All done.\n" });
  const [, , , again, resumed, last] = workspace.server.requests.map(({ body }) => JSON.stringify(body));
  expect(again).toMatch(/These tasks ended before the session was closed:.*Task 1 \(one\): done.*First done\./);
  expect(again).toMatch(/These tasks were cut when the session was closed: 2 \(two\)\./);
  expect(again).toMatch(/These tasks had not begun when the session was closed: 3 \(three\)\./);
  expect(resumed).toContain("Do two.");
  expect(resumed).toContain("Go on.");
  expect(count(last!, "First done.")).toBe(1);
  expect(last).toMatch(/Task 2 \(two\): done.*Second done\./);

  // What was delivered is not delivered again.
  workspace.server.requests.length = 0;
  await runPacked(workspace, ["-c", "-p", "And now?"]);
  const once = JSON.stringify(workspace.server.requests[0]?.body);
  expect([count(once, "First done."), count(once, "were cut")]).toEqual([1, 1]);
});
