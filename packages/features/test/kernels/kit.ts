/** Cells in real sessions with real kernels. */
import { spawnSync } from "node:child_process";
import { systemClock, type ToolResultMessage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import type { Feature } from "@tau/extensions";
import { onTestFinished } from "vitest";
import { discovery, kernels } from "../../src/index.ts";
import type { EvalDetails } from "../../src/kernels/format-cell.ts";
import type { Language } from "../../src/kernels/feature.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

/** Why cells of Python are not tested; undefined if they are. */
export const whyNoPython = (() => {
  const { status, stdout, error } = spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 9))"]);
  if (error || status !== 0) return "there is no python3 here";
  return String(stdout).trim() === "True" ? undefined : "python3 is older than 3.9";
})();
if (whyNoPython !== undefined) process.stderr.write(`SKIPPED: ${whyNoPython}, so Python kernels are not tested.\n`);

/** The languages that can be tested here. */
export const languages: readonly Language[] = whyNoPython === undefined ? ["python", "javascript"] : ["javascript"];

/** Whether commands can be in a sandbox here. */
export const hasSandbox = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
if (!hasSandbox)
  process.stderr.write("SKIPPED: bubblewrap does not work here, so no kernel is started in a sandbox.\n");

export interface CellResult {
  text: string;
  isError: boolean;
  details: EvalDetails;
  message: ToolResultMessage;
}

export interface CellOptions {
  timeoutMs?: number;
  reset?: boolean;
}

/** A session whose model runs the cells that a test asks for. */
export async function openKernels({
  features = [],
  ...params
}: TestSessionParams & { features?: readonly Feature[] } = {}) {
  const opened = await createTestSession([], {
    policyProfile: "permissive",
    sandbox: { mode: "off" },
    ask: async () => ({ decision: "allow" }),
    // Programs are real, and so is the time that they need.
    clock: systemClock,
    ...params,
    features: features.some(({ name }) => name === "kernels") ? features : [kernels(), discovery(), ...features],
  } as unknown as TestSessionParams);
  onTestFinished(() => opened.dispose());
  let count = 0;
  const callTool = async (name: string, args: object): Promise<CellResult> => {
    const id = `call-${++count}`;
    opened.model.add([call(name, args as Record<string, unknown>, id)], [text("Done.")]);
    await opened.prompt("go");
    const message = opened.session.messages.findLast(
      (each): each is ToolResultMessage => each.role === "toolResult" && each.toolCallId === id,
    )!;
    const shown = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return { text: shown, isError: message.isError, details: message.details as EvalDetails, message };
  };
  const run = (language: Language, code: string, options: CellOptions = {}) =>
    callTool("call_tool", { name: "eval", arguments: { language, code, ...options } });
  return { ...opened, run, callTool };
}
