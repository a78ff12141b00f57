/** CPU of the interactive program up to its first complete frame and its end, compared with a short answer in print mode. */
import { text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";
import { measureInTerminal } from "./terminal-program.mjs";

const rounds = 12;

export default async function bench(report) {
  const installation = await installProgram();
  const replies = Array.from({ length: rounds + 2 }, () => ({ kind: "answer", answer: { content: [text("Four.")] } }));
  const workspace = await createWorkspace(installation, replies, "frame");
  const print = () => measure([installation.program, "-p", "2 + 2?"], { ...installation, workspace });
  const drive = (written, type) => {
    // The status line is the last part of the first complete frame.
    if (!written.includes("/1.0M")) return false;
    type("\x04");
    return true;
  };
  const open = () => measureInTerminal([installation.program], { ...installation, workspace, drive });
  await print();
  await open();
  const [printed, opened] = await interleaved([print, open], rounds);
  report("print", printed.cpuMs, "ms of CPU");
  report("first frame and end", opened.cpuMs, "ms of CPU");
  report("first frame and end", opened.cpuMs / printed.cpuMs, "times print (at most 1.4)");
  report("memory", opened.peakBytes / 1e6, "MB (at most 75)");
  await workspace.server.close();
}
