/** What many deltas and a long tool argument cost in JSON mode, above a run with one short answer. */
import { installProgram, interleaved, measure, prepareGround } from "./packed-program.mjs";

const rounds = 15;
const deltas = 20_000;
const argumentCharacters = 500_000;

const frame = (choice) =>
  `data: ${JSON.stringify({ id: "a", model: "small", choices: [{ index: 0, ...choice }] })}\n\n`;
/** An answer in the format of OpenAI's completions, one frame a delta, in chunks as a network brings them. */
function answer(parts, reason) {
  const frames = [
    ...parts.map((delta) => frame({ delta })),
    frame({ delta: {}, finish_reason: reason }),
    "data: [DONE]\n\n",
  ];
  const chunks = [];
  for (let at = 0; at < frames.length; at += 100) chunks.push(frames.slice(at, at + 100).join(""));
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
  const place = await installProgram();
  const repeat = (replies) => Array.from({ length: rounds + 2 }, () => replies).flat();
  const grounds = {
    short: await prepareGround(place, repeat([short]), "short"),
    many: await prepareGround(place, repeat([many]), "many"),
    long: await prepareGround(place, repeat([long, short]), "long"),
  };
  const run = (ground, keepOutput = false) =>
    measure([place.program, "--mode", "json", "Go."], { ...place, ground, keepOutput });
  await run(grounds.short);
  const { text: out } = await run(grounds.many, true);
  await run(grounds.long);
  const seen = out.split("\n").filter((line) => line.includes('"text_delta"')).length;
  const [least, most, argument] = await interleaved(
    [() => run(grounds.short), () => run(grounds.many), () => run(grounds.long)],
    rounds,
  );
  for (const ground of Object.values(grounds)) await ground.server.close();
  report("deltas", seen, "lines");
  report("CPU a delta", ((most.cpuMs - least.cpuMs) * 1_000) / deltas, "µs (at most 15)");
  report("output a delta", (most.bytes - least.bytes) / deltas, "bytes (under 150)");
  report("500 KB argument", (argument.cpuMs - least.cpuMs) / 1_000, "s of CPU (under 0.5)");
}
