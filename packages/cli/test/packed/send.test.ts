/** Messages between programs that are killed: each is said once or is reported, and none twice. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { list } from "../commands/sessions-kit.ts";
import { createModelWorkspace, textReply, type Workspace } from "../kit.ts";
import { runPacked, start } from "./kit.ts";
import { openPty } from "./pty.ts";

const roundCount = process.env["TAU_LONG"] === "1" ? 60 : 6;

/** How long after its start a program is killed: the points are spread over its whole life. */
const delaysMs = Array.from({ length: roundCount }, (_, round) => Math.round((round * 1_500) / roundCount));

interface Entry {
  type: string;
  queueId?: string;
  state?: string;
  message?: { role: string };
}

/** How often the session's log has the message as said, and how often as refused with a notice. */
async function countInLog(workspace: Workspace, text: string) {
  const [session] = await list(workspace);
  const lines = (await readFile(session!.path, "utf8")).split("\n").filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const ids = new Set(
    entries
      .filter((entry, index) => entry.queueId !== undefined && lines[index]!.includes(text))
      .map((entry) => entry.queueId),
  );
  return {
    said: entries.filter(
      ({ type, message }, index) => type === "message" && message?.role === "user" && lines[index]!.includes(text),
    ).length,
    refused: entries.filter(({ type, queueId, state }) => type === "queue" && state === "refused" && ids.has(queueId))
      .length,
  };
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a terminal takes a message of another program, as text", async () => {
  const workspace = await createModelWorkspace([textReply("Hello."), textReply("I have read it.")]);
  const terminal = await openPty(workspace, { args: ["Hi."] });
  await terminal.sees("Hello.");
  const [session] = await list(workspace);
  const sent = await runPacked(workspace, ["sessions", "send", session!.id, "--", "/quit"], { env: { USER: "ada" } });
  expect(sent).toMatchObject({ code: 0, err: "" });
  await terminal.sees('Message from "ada"');
  await terminal.sees("I have read it.");
});

test("sender and receiver may be killed at any point: a message is said once at most, and none is lost that was accepted", async () => {
  const replies = Array.from({ length: 4 * roundCount + 4 }, () => textReply("Read."));
  const workspace = await createModelWorkspace(replies);
  await runPacked(workspace, ["-p", "Begin."]);
  const [{ id } = { id: "" }] = await list(workspace);
  const open = async () => {
    const input = '{"type":"get_state"}\n';
    const receiver = await start(workspace, ["--mode", "rpc", "--session", id], { input, staysOpen: true });
    await receiver.until((out) => out.includes("get_state"));
    return receiver;
  };
  let receiver = await open();
  const accepted: string[] = [];
  const all: string[] = [];
  for (const [round, delayMs] of delaysMs.entries()) {
    const text = `message-${round}-`;
    all.push(text);
    const sender = await start(workspace, ["sessions", "send", id, text]);
    await wait(delayMs);
    const victim = round % 2 === 0 ? receiver : sender;
    victim.child.kill("SIGKILL");
    if (victim === receiver) {
      await receiver.ended;
      receiver = await open();
    }
    if ((await sender.ended).code === 0) accepted.push(text);
  }
  await expect.poll(async () => await readdir(join(workspace.agentDir, "spool")).catch(() => [])).toEqual([]);
  receiver.child.stdin!.end();
  await receiver.ended;
  for (const text of all) {
    const { said, refused } = await countInLog(workspace, text);
    expect(said + refused, text).toBeLessThanOrEqual(1);
    if (accepted.includes(text)) expect(said + refused, text).toBe(1);
  }
});
