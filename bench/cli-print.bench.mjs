/** What a short answer costs in print mode, with and without a tool call, against a Node that does nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "../packages/ai/dist/testing/index.js";
import { installProgram, interleaved, measure, prepareGround } from "./packed-program.mjs";

const rounds = 20;
const says = { kind: "answer", answer: { content: [text("Four.")] } };
const reads = { kind: "answer", answer: { content: [call("read", { path: "a.txt" })] } };

export default async function bench(report) {
  const place = await installProgram();
  const plain = await prepareGround(place, Array(rounds + 2).fill(says), "plain");
  const tool = await prepareGround(place, Array(rounds + 2).fill([reads, says]).flat(), "tool");
  writeFileSync(join(tool.directory, "a.txt"), "apples\n");
  const prints = (ground) => () => measure([place.program, "-p", "What is two and two?"], { ...place, ground });
  // Twice, since the first runs write the code cache.
  for (const ground of [plain, tool, plain, tool]) await prints(ground)();
  const [bare, short, long] = await interleaved(
    [() => measure(["-e", "0"], place), prints(plain), prints(tool)],
    rounds,
  );
  for (const ground of [plain, tool]) await ground.server.close();
  report("bare node", bare.cpuMs, "ms of CPU");
  report("one short answer", short.cpuMs / bare.cpuMs, "times bare node (at most 2.0)");
  report("one tool call", long.cpuMs / bare.cpuMs, "times bare node (at most 2.5)");
  report("peak memory", Math.max(short.peakBytes, long.peakBytes) / 1e6, "MB (under 65)");
}
