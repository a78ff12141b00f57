/** The packed program in RPC mode, driven by the client that we ship. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTau } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { toolReply, type ModelWorkspace, createModelWorkspace, textReply } from "../kit.ts";
import { installed, runPacked } from "./kit.ts";

const apis = ["openai-completions", "anthropic-messages", "google-generative-ai"] as const;

async function connect({ directory, agentDir }: ModelWorkspace, ...args: string[]) {
  const tau = await startTau({
    command: process.execPath,
    commandArgs: [join(await installed(), "dist", "tau.cjs")],
    args,
    cwd: directory,
    env: { PATH: process.env["PATH"], HOME: directory, TAU_DIR: agentDir },
    closeTimeoutMs: 60_000,
  });
  onTestFinished(async () => void (await tau.close()));
  return tau;
}

test.each(apis)("over %s, a prompt with a tool call works, and the program ends in order", async (api) => {
  const workspace = await createModelWorkspace(
    [toolReply("read", { path: "a.txt" }), textReply("It says apples.")],
    api,
  );
  await writeFile(join(workspace.directory, "a.txt"), "apples");
  const tau = await connect(workspace);
  await tau.promptAndWait("What is in a.txt?");
  const { text } = await tau.call("get_last_assistant_text");
  expect(text).toBe("It says apples.");
  const state = await tau.call("get_state");
  expect(state).toMatchObject({ isStreaming: false, messageCount: 4 });
  expect(await tau.close()).toBe(0);
  expect(await readFile(state.sessionFile!, "utf8")).toContain("It says apples.");
});

test("a run that hangs can be aborted, and another process can continue its session", async () => {
  const workspace = await createModelWorkspace([
    toolReply("bash", { command: "sleep 60" }),
    textReply("Back again."),
    textReply("One more."),
  ]);
  const tau = await connect(workspace);
  const events: string[] = [];
  tau.onEvent(({ type }) => events.push(type));
  const running = tau.promptAndWait("Sleep.");
  await expect.poll(() => events).toContain("tool_execution_start");
  await Promise.all([tau.call("abort"), expect(running).rejects.toThrow("ended before its answer")]);
  const { sessionFile } = await tau.call("get_state");
  await tau.close();
  const again = await connect(workspace, "--session", sessionFile!);
  await again.promptAndWait("Are you there?");
  expect((await again.call("get_messages")).messages.length).toBeGreaterThan(4);
});

test.each(["pi", "json-rpc"])(
  "a client that reads gets everything in %s framing, however much comes at once",
  async (framing) => {
    const workspace = await createModelWorkspace([{ kind: "raw", chunks: [], ending: "hang" }]);
    const send = async (args: string[], commands: readonly { type: string; [parameter: string]: unknown }[]) => {
      const lines = commands.map(({ type, ...params }, id) =>
        JSON.stringify(framing === "pi" ? { id, type, ...params } : { jsonrpc: "2.0", id, method: type, params }),
      );
      const input = `${lines.join("\n")}\n`;
      const { code, out, err } = await runPacked(workspace, ["--mode", "rpc", ...args], { input });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out.match(framing === "pi" ? /"success":true/g : /"result":/g)).toHaveLength(commands.length);
      return out;
    };
    const [megabytes, followUps] = process.env["TAU_LONG"] ? [18, 1_000] : [5, 250];
    const [large, small] = ["A".repeat(megabytes * 1024 ** 2), "B".repeat(100_000)];
    const toImages = (data: string) => [{ type: "image", data, mimeType: "image/png" }];
    const out = await send(
      [],
      [
        { type: "prompt", message: "Look.", images: toImages(large) },
        { type: "follow_up", message: "And this.", images: toImages(small) },
        ...Array.from({ length: followUps }, (_, index) => ({ type: "follow_up", message: `Then ${index}.` })),
      ],
    );
    // When a message begins, when it ends, and at the end of the run; not again with each change of the queue.
    for (const data of [large, small]) expect(out.split(data).length - 1).toBeLessThanOrEqual(3);
    expect(await send(["-c"], [{ type: "get_entries" }, { type: "get_entries" }])).toContain(large);
  },
);
