/** CPU of 200 turns of one short command in print mode, compared with an empty program that starts bash 200 times. */
import { call, text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const turns = 200;
const rounds = 4;
const warmUps = 2;

const bare = `const { spawn } = require("node:child_process");
const run = () => new Promise((resolve) => {
  const child = spawn("bash", ["-c", "echo hi"]);
  child.stdout.resume();
  child.on("close", resolve);
});
(async () => { for (let turn = 0; turn < ${turns}; turn++) await run(); })();`;

export default async function bench(report) {
  const installation = await installProgram();
  const calls = Array.from({ length: turns }, (_unused, turn) => [
    call("bash", { command: "echo hi" }, `call_${turn}`),
  ]);
  const answers = [...calls, [text("Done.")]];
  const replies = answers.map((content) => ({ kind: "answer", answer: { content } }));
  const all = Array.from({ length: rounds + warmUps }, () => replies).flat();
  const workspace = await createWorkspace(installation, all, "turns");
  const print = () => measure([installation.program, "-p", "--no-session", "Go."], { ...installation, workspace });
  // The first runs write the code cache.
  for (let round = 0; round < warmUps; round++) await print();
  const [alone, program] = await interleaved([() => measure(["-e", bare], installation), print], rounds);
  report(`${turns} times bash alone`, alone.cpuMs, "ms of CPU");
  report(`${turns} turns`, program.cpuMs, "ms of CPU");
  report(`${turns} turns`, program.cpuMs / alone.cpuMs, "times bash alone (at most 3.5)");
  await workspace.server.close();
}
