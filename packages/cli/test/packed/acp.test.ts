/** The packed program as an editor starts it, with the client of the official SDK over its standard streams. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { initialize, joinText, listUpdates, newSession, openClient, prompt } from "../acp-kit.ts";
import { createModelWorkspace, type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { cacheHome, installed } from "./kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

async function start({ directory, agentDir }: ModelWorkspace) {
  const program = join(await installed(), "dist", "tau.cjs");
  const child: ChildProcess = spawn(process.execPath, [program, "acp"], {
    cwd: directory,
    env: { PATH: process.env["PATH"], HOME: directory, TAU_DIR: agentDir, XDG_CACHE_HOME: cacheHome },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let err = "";
  child.stderr!.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const client = openClient({ toProgram: child.stdin!, fromProgram: child.stdout! }, (app) =>
    app.onRequest("session/request_permission", ({ params }) => ({
      outcome: { outcome: "selected", optionId: params.options[0]!.optionId },
    })),
  );
  const exited = once(child, "exit");
  const leave = async () => {
    child.stdin!.end();
    const [code] = (await exited) as [number | null];
    return code;
  };
  return { ...client, child, leave, exited, err: () => err };
}

test("a conversation with a call, a question and a diff, and the program ends in order", async () => {
  const workspace = await createModelWorkspace([
    toolReply("read", { path: "/etc/hostname" }),
    toolReply("edit", { path: "a.txt", edits: [{ oldText: "pears", newText: "apples" }] }),
    textReply("Now it says apples."),
  ]);
  await writeFile(join(workspace.directory, "a.txt"), "pears\n");
  const { agent, updates, leave, err } = await start(workspace);
  await initialize(agent);
  const { sessionId } = await newSession(agent, workspace);
  expect(await prompt(agent, sessionId, "Change it.")).toEqual({ stopReason: "end_turn" });
  expect(joinText(updates)).toBe("Now it says apples.");
  const ends = listUpdates(updates, "tool_call_update").filter(({ status }) => status === "completed");
  expect(ends).toHaveLength(2);
  expect(JSON.stringify(updates)).toContain('"newText":"apples"');
  expect([await leave(), err()]).toEqual([0, ""]);
});

test("a client that leaves in the middle of a run, or kills the program, can load the session afterwards", async () => {
  const workspace = await createModelWorkspace([hang, hang, textReply("Here I am.")]);
  const first = await start(workspace);
  await initialize(first.agent);
  const { sessionId } = await newSession(first.agent, workspace);
  void prompt(first.agent, sessionId, "Remember the apples.").catch(() => undefined);
  await expect.poll(() => workspace.server.requests.length).toBe(1);
  expect(await first.leave()).toBe(0);

  const load = { sessionId, cwd: workspace.directory, mcpServers: [] };
  const second = await start(workspace);
  await initialize(second.agent);
  await second.agent.request("session/load", load);
  void prompt(second.agent, sessionId, "And the pears.").catch(() => undefined);
  await expect.poll(() => workspace.server.requests.length).toBe(2);
  second.child.kill("SIGKILL");
  await second.exited;

  const third = await start(workspace);
  await initialize(third.agent);
  await third.agent.request("session/load", load);
  expect(joinText(third.updates, "user_message_chunk")).toBe("Remember the apples.And the pears.");
  expect(await prompt(third.agent, sessionId, "Are you there?")).toEqual({ stopReason: "end_turn" });
  expect(await third.leave()).toBe(0);
});
