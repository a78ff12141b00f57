/**
 * What a short answer costs in print mode, with and without a tool call, against a Node that does nothing. In a nearly
 * empty environment, and then in the one that this runs in, whose variables may make every Node start slower.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "../packages/ai/dist/testing/index.js";
import { installProgram, interleaved, measure, prepareGround } from "./packed-program.mjs";

const rounds = 20;
const says = { kind: "answer", answer: { content: [text("Four.")] } };
const reads = { kind: "answer", answer: { content: [call("read", { path: "a.txt" })] } };

export default async function bench(report) {
  const place = await installProgram();
  const repeat = (replies) => Array.from({ length: 2 * rounds + 4 }, () => replies).flat();
  const plain = await prepareGround(place, repeat([says]), "plain");
  const tool = await prepareGround(place, repeat([reads, says]), "tool");
  writeFileSync(join(tool.directory, "a.txt"), "apples\n");
  for (const [name, env] of [
    ["", {}],
    [" (environment as it is)", process.env],
  ]) {
    const run = (ground, ...args) => measure(args, { ...place, env, ...(ground && { ground }) });
    const prints = (ground) => () => run(ground, place.program, "-p", "What is two and two?");
    // Twice, since the first runs write the code cache.
    for (const ground of [plain, tool, plain, tool]) await prints(ground)();
    const runs = [() => run(undefined, "-e", "0"), prints(plain), prints(tool)];
    const [bare, short, long] = await interleaved(runs, rounds - 2);
    report(`bare node${name}`, bare.cpuMs, "ms of CPU");
    report(`one short answer${name}`, short.cpuMs / bare.cpuMs, "times bare node (at most 2.0)");
    report(`one tool call${name}`, long.cpuMs / bare.cpuMs, "times bare node (at most 2.5)");
    report(`peak memory${name}`, Math.max(short.peakBytes, long.peakBytes) / 1e6, "MB (under 65)");
  }
  for (const ground of [plain, tool]) await ground.server.close();
}
