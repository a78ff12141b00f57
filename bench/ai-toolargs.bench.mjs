/**
 * Measures a tool call whose arguments arrive in 20-character pieces: the work must grow with the bytes, not with their
 * square.
 */
import { withServer } from "./streaming.mjs";

const size = 20;

export default async function bench(report) {
  await withServer(async (ask) => {
    const cost = async (bytes) => {
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 3; round++) {
        const { cpuSeconds, message } = await ask({ count: Math.ceil(bytes / size), size, kind: "tool" });
        const { arguments: args, argumentsError } = message.content[0];
        if (argumentsError || args.content.length < bytes * 0.8) throw new Error(argumentsError ?? "too short");
        best = Math.min(best, cpuSeconds);
      }
      return best;
    };
    await cost(50_000);
    const quarter = await cost(250_000);
    const whole = await cost(1_000_000);
    report("cpu for 250 KB", quarter, "s");
    report("cpu for 1 MB", whole, "s");
    report("1 MB over 250 KB", whole / quarter, "times");
  });
}
