/** CPU and bytes of a command that prints 100 MB, shown live in the interactive program, compared with print mode. */
import { call, text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";
import { leaveAfter, measureInTerminal } from "./terminal-program.mjs";

const rounds = 4;
const command = "seq 13000000 | head -c 100M";

export default async function bench(report) {
  const installation = await installProgram();
  const replies = Array.from({ length: 2 * (rounds + 1) }, () => [
    { kind: "answer", answer: { content: [call("bash", { command })] } },
    { kind: "answer", answer: { content: [text("THEEND")] } },
  ]).flat();
  const workspace = await createWorkspace(installation, replies, "tool");
  const options = { ...installation, workspace, drive: leaveAfter("THEEND") };
  const print = () => measure([installation.program, "-p", "Go."], options);
  const show = () => measureInTerminal([installation.program, "Go."], options);
  await print();
  await show();
  const [printed, shown] = await interleaved([print, show], rounds);
  report("print", printed.cpuMs, "ms of CPU, with the command");
  report("terminal", shown.cpuMs, "ms of CPU, with the command");
  report("terminal above print", shown.cpuMs - printed.cpuMs, "ms of CPU (at most 150)");
  report("written", shown.bytes / 1e6, "MB (at most 2)");
  report("memory", shown.peakBytes / 1e6, "MB");
  await workspace.server.close();
}
