/**
 * CPU and bytes of 20,000 deltas of Markdown in the interactive program: at once, compared with print mode on the same stream;
 * fast, to compare the last deltas with the first; and at the rate of a fast model.
 */
import { createFrames, deltas, lastWord } from "./markdown-answer.mjs";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";
import { startPacedServer } from "./paced-server.mjs";
import { leaveAfter, measureInTerminal, readCpuMs } from "./terminal-program.mjs";

const rounds = 4;
const sample = 1_000;
const pacedDeltas = 3_000;
const { deltas: frames, end } = createFrames();

export default async function bench(report) {
  const installation = await installProgram();
  await compareWithPrint(installation, report);
  await compareLastWithFirst(installation, report);
  await measurePaced(installation, report);
}

async function compareWithPrint(installation, report) {
  const chunks = [];
  for (let start = 0; start < frames.length; start += 100) chunks.push(frames.slice(start, start + 100).join(""));
  const reply = { kind: "raw", chunks: [...chunks, end], ending: "end" };
  const replies = Array.from({ length: 2 * (rounds + 1) }, () => reply);
  const workspace = await createWorkspace(installation, replies, "stream");
  const options = { ...installation, workspace, drive: leaveAfter(lastWord) };
  const print = () => measure([installation.program, "-p", "Go."], options);
  const show = () => measureInTerminal([installation.program, "Go."], options);
  await print();
  await show();
  const [printed, shown] = await interleaved([print, show], rounds);
  report("print", printed.cpuMs, "ms of CPU");
  report("terminal", shown.cpuMs, "ms of CPU");
  report("terminal", shown.cpuMs / printed.cpuMs, "times print (at most 2.5)");
  report("written", shown.bytes / 1e6, "MB (at most 1.3)");
  report("memory", shown.peakBytes / 1e6, "MB");
  await workspace.server.close();
}

async function compareLastWithFirst(installation, report) {
  const { cpuMs } = await showPaced(installation, { frames, framesPerSecond: 2_000, name: "fast" });
  const [first, last] = [cpuMs(0, sample), cpuMs(deltas - sample, deltas)];
  report("first 1,000 deltas", first, "ms of CPU");
  report("last 1,000 deltas", last, "ms of CPU");
  report("last 1,000 deltas", last / first, "times the first (at most 1.3)");
}

async function measurePaced(installation, report) {
  const framesPerSecond = 200;
  const some = [...frames.slice(0, pacedDeltas - 1), frames.at(-1)];
  const { cpuMs, bytes } = await showPaced(installation, { frames: some, framesPerSecond, name: "paced" });
  const seconds = pacedDeltas / framesPerSecond;
  report("200 deltas a second", cpuMs(0, pacedDeltas) / seconds / 10, "% of a core (at most 10)");
  report("200 deltas a second", bytes / 1e3 / seconds, "KB a second (at most 60)");
}

/** `cpuMs` says what the program used from one number of deltas to another. */
async function showPaced(installation, { frames: sent, framesPerSecond, name }) {
  let shell;
  const samples = [];
  const onSent = (count) => samples.push({ count, cpuMs: readCpuMs(shell) });
  const server = await startPacedServer({ frames: sent, end, framesPerSecond, onSent });
  const workspace = await createWorkspace(installation, [], name, server);
  const { bytes } = await measureInTerminal([installation.program, "Go."], {
    ...installation,
    workspace,
    drive: leaveAfter(lastWord),
    onStart: (pid) => (shell = pid),
  });
  server.close();
  const at = (count) => samples.find((one) => one.count >= count).cpuMs;
  return { bytes, cpuMs: (from, to) => at(to) - at(from) };
}
