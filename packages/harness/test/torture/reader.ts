/** A process that opens a session and prints its time and memory. Argument: the file. */
import { SessionManager } from "../../src/session/session-manager.ts";

const [path = ""] = process.argv.slice(2);
const [rss, cpu, start] = [process.memoryUsage().rss, process.cpuUsage(), performance.now()];
const session = await SessionManager.open(path);
const { user, system } = process.cpuUsage(cpu);
const figures = {
  entries: session.getEntryCount(),
  problems: session.problems.length,
  leafId: session.getLeafId(),
  cpuMs: Math.round((user + system) / 1_000),
  wallMs: Math.round(performance.now() - start),
  moreMB: Math.round((process.memoryUsage().rss - rss) / 1024 / 1024),
};
await session.close();
process.stdout.write(JSON.stringify(figures));
