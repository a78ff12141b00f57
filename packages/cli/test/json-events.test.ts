/** `--events pi` writes what programs that were written for pi read, and nothing else. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";

type Json = Record<string, unknown>;

const parse = (out: string): Json[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);

test("--events pi writes the header and pi's records, in the order of a run", async () => {
  const workspace = await createModelWorkspace([toolReply("ls", { path: "." }), textReply("Nothing here.")]);
  const { code, out } = await run(workspace, ["--mode", "json", "--events", "pi", "Look."]);
  expect(code).toBe(exitCodes.done);
  const [header, ...records] = parse(out);
  expect(header).toMatchObject({ type: "session", version: 3 });
  const types = records.map(({ type }) => type).filter((type) => type !== "message_update");
  expect(types).toEqual([
    "agent_start",
    "turn_start",
    "message_start",
    "message_end",
    "message_start",
    "message_end",
    "tool_execution_start",
    "tool_execution_end",
    "message_start",
    "message_end",
    "turn_end",
    "turn_start",
    "message_start",
    "message_end",
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
  const answer = records.findLast(({ type }) => type === "message_end")!["message"];
  expect(answer).toMatchObject({ role: "assistant", content: [{ type: "text", text: "Nothing here." }] });
  expect(records.at(-2)).toMatchObject({ type: "agent_end", willRetry: false });
  expect(records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
  const updates = records.filter(({ type }) => type === "message_update");
  expect(updates.length).toBeGreaterThan(0);
  for (const update of updates) expect(Object.keys(update)).toEqual(["type", "usage", "assistantMessageEvent"]);
});

test("the setting json.events says it too, and --events says otherwise", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ json: { events: "pi" } }));
  const pi = parse((await run(workspace, ["--mode", "json", "Hi"])).out);
  expect(pi.at(-1)).toEqual({ type: "agent_settled", aborted: false });
  const own = parse((await run(workspace, ["--mode", "json", "--events", "tau", "Hi"])).out);
  expect(own.at(-1)).toMatchObject({ type: "result", answer: "Two." });
});

test("a form of events that there is not is refused", async () => {
  const workspace = await createModelWorkspace([]);
  const { code, err } = await run(workspace, ["--mode", "json", "--events", "wrong", "Hi"]);
  expect({ code, err }).toEqual({ code: exitCodes.usage, err: expect.stringMatching(/--events.*tau, pi/) });
});
