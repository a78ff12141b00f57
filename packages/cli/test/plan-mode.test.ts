/** Plan mode and questions of the model over the surfaces: print, RPC and the terminal. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openApp } from "./interactive/kit.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";
import { type Json, serve } from "./rpc-kit.ts";

const content = "## Steps\n\n1. Read **a.txt**.\n2. Fix it.";
const proposes = toolReply("propose_plan", { name: "Fix it", content });
const writes = toolReply("write", { path: "a.txt", content: "x" });

interface Body {
  tools: { function: { name: string } }[];
  messages: { role: string; content: unknown }[];
}
const listTools = ({ body }: { body: unknown }) => (body as Body).tools.map((tool) => tool.function.name);

describe("in print mode", () => {
  test("nothing is written, and the plan is kept for nobody to accept", async () => {
    const workspace = await createModelWorkspace([writes, proposes, textReply("The plan.")]);
    const { out } = await run(workspace, ["--plan-mode", "-p", "Go."]);
    expect(out).toBe("The plan.\n");
    expect(existsSync(join(workspace.directory, "a.txt"))).toBe(false);
    const plans = join(workspace.agentDir, "plans");
    const [project = ""] = readdirSync(plans);
    const [file = ""] = readdirSync(join(plans, project));
    expect(readFileSync(join(plans, project, file), "utf8")).toBe(`# Fix it\n\n${content}\n`);
    expect(listTools(workspace.server.requests[0]!)).toEqual(expect.arrayContaining(["propose_plan", "ask"]));
  });

  test("without it, neither tool is listed", async () => {
    const workspace = await createModelWorkspace([textReply("Hi.")]);
    await run(workspace, ["-p", "Go."]);
    const tools = listTools(workspace.server.requests[0]!);
    expect(tools).not.toContain("propose_plan");
    expect(tools).not.toContain("ask");
  });

  test("a flag --plan of an extension keeps its meaning", async () => {
    const workspace = await createModelWorkspace([textReply("Hi.")]);
    const { err } = await run(workspace, ["--plan", "-p", "Go."]);
    expect(err).toContain("--plan");
    expect(workspace.server.requests).toEqual([]);
  });
});

const isDialog =
  (method: string, count = 1) =>
  (records: readonly Json[]) =>
    records.filter((record) => record["type"] === "extension_ui_request" && record["method"] === method)[count - 1];

describe("over RPC", () => {
  test("a question and a plan are dialogs, and an accepted plan is carried out", async () => {
    const question = toolReply("ask", { question: "Which?", options: ["red", "blue"] });
    const workspace = await createModelWorkspace([question, proposes, writes, textReply("Done.")]);
    const client = serve(workspace, { args: ["--plan-mode"] });
    const answer = async (count: number, value: string) => {
      await client.seen(() => isDialog("select", count)(client.records) !== undefined);
      const { id, options } = isDialog("select", count)(client.records)!;
      expect(options).toContain(value);
      client.send({ type: "extension_ui_response", id, value });
    };
    expect(await client.ask("get_state")).toMatchObject({ data: { permissions: { mode: "plan", afterPlan: "edit" } } });
    await client.ask("prompt", { message: "Go." });
    await answer(1, "blue");
    await answer(2, "Accept it, and continue here");
    await client.seen(({ type }) => type === "agent_end");
    await expect.poll(() => existsSync(join(workspace.directory, "a.txt"))).toBe(true);
    expect(JSON.stringify(workspace.server.requests[1]!.body)).toContain("The user chose: blue");
    expect(await client.ask("get_state")).toMatchObject({ data: { permissions: { mode: "edit" } } });
  });
});

describe("in the terminal", () => {
  test("the plan is shown rendered before it is accepted, and continues in a new session that has only the plan", async () => {
    const app = await openApp([proposes, textReply("Carried out.")], { args: ["--plan-mode"] });
    await app.sees(/main\) · plan/);
    const before = app.app.sessionId;
    app.type("make a plan");
    app.press("enter");
    await app.sees("what next?");
    await app.sees("1. Read a.txt.");
    app.press("down", "enter");
    await app.sees("Carried out.");
    await app.sees(/main\) · edit/);
    expect(app.app.sessionId).not.toBe(before);
    const sent = JSON.stringify((app.server.requests.at(-1)!.body as Body).messages);
    expect(sent).toContain("Carry out this plan, which I have accepted");
    expect(sent).not.toContain("make a plan");
  });

  test("/plan turns plan mode on", async () => {
    const app = await openApp([]);
    app.type("/plan");
    app.press("escape", "enter");
    await app.sees("Plan mode is on: nothing can be written until you leave it with /plan off.");
    await app.sees(/main\) · plan/);
  });
});
