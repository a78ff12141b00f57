/** Whether the program runs on Bun, with the sandbox off. Bun is no dependency: `TAU_BUN` names one, else PATH is asked. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { version } from "../../src/start/version.ts";
import { createModelWorkspace, textReply, toolReply, type Workspace } from "../kit.ts";
import { installed } from "./kit.ts";

const bun = process.env["TAU_BUN"] ?? "bun";

function mustHaveBun(context: TestContext): void {
  const { status } = spawnSync(bun, ["--version"]);
  if (status === 0) return;
  const reason = "bun is not installed, and TAU_BUN names none: the program was not run on it.";
  console.log(reason);
  context.skip(reason);
}

/** Standard input ends when the output matches `until`, or at once. */
async function runOnBun({ directory, agentDir }: Workspace, args: readonly string[], input = "", until = /^/) {
  const program = join(await installed(), "dist", "tau.cjs");
  const child = spawn(bun, [program, ...args], {
    cwd: directory,
    env: { PATH: process.env["PATH"] ?? "", HOME: directory, TAU_DIR: agentDir },
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.out += chunk.toString();
    if (until.test(output.out)) child.stdin.end();
  });
  child.stderr.on("data", (chunk: Buffer) => void (output.err += chunk.toString()));
  child.stdin.write(input);
  if (until.test("")) child.stdin.end();
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...output };
}

test("on Bun, --version, -p with a tool and RPC work with the sandbox off", async (context) => {
  mustHaveBun(context);
  const replies = [toolReply("bash", { command: "echo from the shell" }), textReply("Done."), textReply("Again.")];
  const workspace = await createModelWorkspace(replies);
  expect(await runOnBun(workspace, ["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  const args = ["--sandbox", "off", "--permission-mode", "free", "-p", "Say it."];
  expect(await runOnBun(workspace, args)).toMatchObject({ code: 0, out: "Done.\n" });
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("from the shell");
  const command = `${JSON.stringify({ id: "1", type: "prompt", message: "Hi" })}\n`;
  const { code, out } = await runOnBun(workspace, ["--mode", "rpc", "--sandbox", "off"], command, /agent_settled/);
  const lines = out.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { type: string; id?: string; success?: boolean });
  expect(code).toBe(0);
  expect(records.find(({ id }) => id === "1")).toMatchObject({ type: "response", success: true });
  expect(out).toContain("Again.");
});
