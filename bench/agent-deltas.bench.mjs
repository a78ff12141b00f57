/** Text deltas through an agent with one listener. */
import { Agent } from "@tau/agent";
import { cpuSince, model, textStream } from "./memory-model.mjs";

const count = 100_000;

export default async function bench(report) {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const agent = new Agent({ initialState: { model }, streamFn: textStream(count) });
    let received = 0;
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") received++;
    });
    const started = process.cpuUsage();
    await agent.prompt("go");
    fastest = Math.min(fastest, cpuSince(started));
    if (received !== count) throw new Error(`${received} deltas were received`);
  }
  report("text deltas", count / (fastest / 1e6), "deltas per CPU second (at least 600,000)");
}
