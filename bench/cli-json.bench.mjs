/** CPU and output of many deltas and of a long tool argument in JSON mode, minus those of one short answer. */
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const rounds = 15;
const deltas = 20_000;
const argumentCharacters = 500_000;

const frame = (choice) =>
  `data: ${JSON.stringify({ id: "a", model: "small", choices: [{ index: 0, ...choice }] })}\n\n`;
/** An answer in the format of OpenAI's completions: one frame per delta, 100 frames per network chunk. */
function answer(parts, reason) {
  const frames = [
    ...parts.map((delta) => frame({ delta })),
    frame({ delta: {}, finish_reason: reason }),
    "data: [DONE]\n\n",
  ];
  const chunks = [];
  for (let start = 0; start < frames.length; start += 100) chunks.push(frames.slice(start, start + 100).join(""));
  return { kind: "raw", chunks, ending: "end" };
}

const short = answer([{ content: "Four." }], "stop");
const many = answer(
  Array.from({ length: deltas }, () => ({ content: "word " })),
  "stop",
);
const long = answer(
  [
    {
      tool_calls: [
        { index: 0, id: "c", type: "function", function: { name: "write", arguments: '{"path":"a.txt","content":"' } },
      ],
    },
    ...Array.from({ length: argumentCharacters / 20 }, () => ({
      tool_calls: [{ index: 0, function: { arguments: "x".repeat(20) } }],
    })),
    { tool_calls: [{ index: 0, function: { arguments: '"}' } }] },
  ],
  "tool_calls",
);

export default async function bench(report) {
  const installation = await installProgram();
  const repeat = (replies) => Array.from({ length: rounds + 2 }, () => replies).flat();
  const workspaces = {
    short: await createWorkspace(installation, repeat([short]), "short"),
    many: await createWorkspace(installation, repeat([many]), "many"),
    long: await createWorkspace(installation, repeat([long, short]), "long"),
  };
  const run = (workspace, keepOutput = false) =>
    measure([installation.program, "--mode", "json", "Go."], { ...installation, workspace, keepOutput });
  await run(workspaces.short);
  const { text } = await run(workspaces.many, true);
  await run(workspaces.long);
  const deltaLines = text.split("\n").filter((line) => line.includes('"text_delta"')).length;
  const [shortRun, manyRun, longRun] = await interleaved(
    [() => run(workspaces.short), () => run(workspaces.many), () => run(workspaces.long)],
    rounds,
  );
  for (const workspace of Object.values(workspaces)) await workspace.server.close();
  report("deltas", deltaLines, "lines");
  report("CPU a delta", ((manyRun.cpuMs - shortRun.cpuMs) * 1_000) / deltas, "µs (at most 15)");
  report("output a delta", (manyRun.bytes - shortRun.bytes) / deltas, "bytes (under 150)");
  report("500 KB argument", (longRun.cpuMs - shortRun.cpuMs) / 1_000, "s of CPU (under 0.5)");
}
