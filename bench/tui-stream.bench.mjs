/** CPU and bytes of 20,000 deltas of Markdown in the interactive program, compared with print mode on the same stream. */
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";
import { measureInTerminal } from "./terminal-program.mjs";

const rounds = 4;
const deltas = 20_000;
const size = 20;

const part = [
  "## A heading\n\nSome **bold** text with `code` and a [link](https://example.com), and so on.\n\n",
  "```ts\n",
  ..."export function add(left: number, right: number): number {\n  // A comment.\n  return left + right;\n}\n".repeat(
    4,
  ),
  "```\n\n",
  "| name | value |\n| --- | --- |\n| one | 1 |\n| two | 2 |\n\n",
  "- a list\n- of items\n  - nested\n\n",
].join("");

const frame = (choice) =>
  `data: ${JSON.stringify({ id: "a", model: "small", choices: [{ index: 0, ...choice }] })}\n\n`;

function createAnswer() {
  const text = part.repeat(Math.ceil((deltas * size) / part.length)).slice(0, deltas * size - 7);
  const pieces = `${text}\n\nTHEEND`.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"));
  const frames = [
    ...pieces.map((content) => frame({ delta: { content } })),
    frame({ delta: {}, finish_reason: "stop" }),
    "data: [DONE]\n\n",
  ];
  const chunks = [];
  for (let start = 0; start < frames.length; start += 100) chunks.push(frames.slice(start, start + 100).join(""));
  return { kind: "raw", chunks, ending: "end" };
}

export default async function bench(report) {
  const installation = await installProgram();
  const replies = Array.from({ length: 2 * (rounds + 1) }, createAnswer);
  const workspace = await createWorkspace(installation, replies, "stream");
  const print = () => measure([installation.program, "-p", "Go."], { ...installation, workspace });
  const show = () =>
    measureInTerminal([installation.program, "Go."], {
      ...installation,
      workspace,
      drive: (written, type) => {
        if (!written.includes("THEEND")) return false;
        type("\x04");
        return true;
      },
    });
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
