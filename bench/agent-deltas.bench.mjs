/** Text deltas through an agent with one listener. */
import { Agent } from "@tau/agent";
import { cpuSince, model, textStream } from "./memory-model.mjs";

const count = 100_000;

export default async function bench(report) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const agent = new Agent({ initialState: { model }, streamFn: textStream(count) });
    let heard = 0;
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") heard++;
    });
    const started = process.cpuUsage();
    await agent.prompt("go");
    best = Math.min(best, cpuSince(started));
    if (heard !== count) throw new Error(`${heard} deltas were heard`);
  }
  report("text deltas", count / (best / 1e6), "deltas per CPU second");
}
