/**
 * CPU of the interactive program up to its first complete frame, and up to its end, compared with a short answer in print
 * mode; and CPU while nobody does anything.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";
import { leaveAfter, measureInTerminal, readCpuMs, readThreadsCpuMs } from "./terminal-program.mjs";

const rounds = 12;
/** After the first frame: watched files are checked once, and V8 collects garbage when nothing was done for 8 s. */
const settleMs = 12_000;
const idleMs = 10_000;

/** The status line is the last part of the first complete frame. */
const lastPart = "/1.0M";

export default async function bench(report) {
  const installation = await installProgram();
  const replies = Array.from({ length: rounds + 2 }, () => ({ kind: "answer", answer: { content: [text("Four.")] } }));
  const workspace = await createWorkspace(installation, replies, "frame");
  const print = () => measure([installation.program, "-p", "2 + 2?"], { ...installation, workspace });
  const frames = [];
  const open = () => measureFrame(installation, workspace, (cpuMs) => frames.push(cpuMs));
  await print();
  await open();
  const [printed, opened] = await interleaved([print, open], rounds);
  const frameCpuMs = Math.min(...frames);
  report("print", printed.cpuMs, "ms of CPU");
  report("first frame", frameCpuMs, "ms of CPU");
  report("first frame", frameCpuMs / printed.cpuMs, "times print (at most 1.4)");
  report("first frame and end", opened.cpuMs / printed.cpuMs, "times print");
  report("memory", opened.peakBytes / 1e6, "MB (at most 75)");
  report("idle for 10 s", await measureIdle(installation, workspace), "ms of CPU (at most 0)");
  await workspace.server.close();
}

async function measureFrame(installation, workspace, onFrame) {
  let shell;
  const leave = leaveAfter(lastPart);
  const drive = (written, type) => {
    if (written.includes(lastPart)) onFrame(readThreadsCpuMs(shell));
    return leave(written, type);
  };
  const onStart = (pid) => (shell = pid);
  return await measureInTerminal([installation.program], { ...installation, workspace, drive, onStart });
}

async function measureIdle(installation, workspace) {
  let shell;
  let idleCpuMs;
  const drive = (written, type) => {
    if (!written.includes(lastPart)) return false;
    void (async () => {
      await sleep(settleMs);
      const before = readCpuMs(shell);
      await sleep(idleMs);
      idleCpuMs = readCpuMs(shell) - before;
      type("\x04");
    })();
    return true;
  };
  const onStart = (pid) => (shell = pid);
  await measureInTerminal([installation.program], { ...installation, workspace, drive, onStart });
  return idleCpuMs;
}
