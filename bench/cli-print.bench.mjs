/** CPU and memory of a short answer in print mode, with and without a tool call, compared with a Node that does nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const rounds = 20;
const warmUps = 2;
const answer = { kind: "answer", answer: { content: [text("Four.")] } };
const toolCall = { kind: "answer", answer: { content: [call("read", { path: "a.txt" })] } };

export default async function bench(report) {
  const installation = await installProgram();
  const repeat = (replies) => Array.from({ length: rounds + warmUps }, () => replies).flat();
  const plain = await createWorkspace(installation, repeat([answer]), "plain");
  const tool = await createWorkspace(installation, repeat([toolCall, answer]), "tool");
  writeFileSync(join(tool.directory, "a.txt"), "apples\n");
  const print = (workspace) => () =>
    measure([installation.program, "-p", "What is two and two?"], { ...installation, workspace });
  // The first runs write the code cache.
  for (let round = 0; round < warmUps; round++) for (const workspace of [plain, tool]) await print(workspace)();
  const runs = [() => measure(["-e", "0"], installation), print(plain), print(tool)];
  const [bare, short, long] = await interleaved(runs, rounds);
  report("bare node", bare.cpuMs, "ms of CPU");
  report("one short answer", short.cpuMs / bare.cpuMs, "times bare node (at most 4.5)");
  report("one tool call", long.cpuMs / bare.cpuMs, "times bare node");
  report("peak memory", Math.max(short.peakBytes, long.peakBytes) / 1e6, "MB (under 65)");
  for (const workspace of [plain, tool]) await workspace.server.close();
}
