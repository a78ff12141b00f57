/** What many deltas and a long tool argument cost in JSON mode, above a run with one short answer. */
import { call, text } from "../packages/ai/dist/testing/index.js";
import { installProgram, interleaved, measure, prepareGround } from "./packed-program.mjs";

const rounds = 5;
const deltas = 20_000;
const argumentCharacters = 500_000;

const short = { kind: "answer", answer: { content: [text("Four.")] } };
/** A delta is about a word, as models send them. */
const many = { kind: "answer", answer: { content: [text("word ".repeat(deltas))], chunkSize: 5 } };
const long = {
  kind: "answer",
  answer: { content: [call("write", { path: "long.txt", content: "x".repeat(argumentCharacters) })], chunkSize: 20 },
};

export default async function bench(report) {
  const place = await installProgram();
  const repeat = (replies) => Array(rounds + 2).fill(replies).flat();
  const grounds = {
    short: await prepareGround(place, repeat([short]), "short"),
    many: await prepareGround(place, repeat([many]), "many"),
    long: await prepareGround(place, repeat([long, short]), "long"),
  };
  const run = (ground, keepOutput = false) => measure([place.program, "--mode", "json", "Go."], { ...place, ground, keepOutput });
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
  report("CPU a delta", ((most.cpuMs - least.cpuMs) * 1_000) / seen, "µs (at most 15)");
  report("output a delta", (most.bytes - least.bytes) / seen, "bytes (under 150)");
  report("500 KB argument", (argument.cpuMs - least.cpuMs) / 1_000, "s of CPU (under 0.5)");
}
