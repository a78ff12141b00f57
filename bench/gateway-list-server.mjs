/** A gateway with many closed sessions. Reports how long its list takes and how much memory it needs. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getMedian, openBenchGateway } from "./gateway-server.mjs";
import { cpuSince } from "./memory-model.mjs";

const count = Number(process.argv[2]);
const { agentDir, client, close, create } = await openBenchGateway();
const directory = join(agentDir, "sessions", "--bench--");
await mkdir(directory, { recursive: true });
for (let index = 0; index < count; index++) await generate(index);
const hosted = await create();
await hosted.session.sessionManager.appendSessionInfo("Open");

const list = (params = {}) => client.must("sessions.list", { limit: 50, ...params });
const [firstMs, first] = await time(() => list());
const pages = [];
const cpu = process.cpuUsage();
for (let round = 0; round < 20; round++) pages.push((await time(() => list()))[0]);
const pageCpuMs = cpuSince(cpu) / 1_000 / 20;
let middleMs = 0;
let changedMs = 0;
let openMs = 0;
if (count > 0) {
  let page = first;
  for (let each = 0; each < 20; each++) page = await list({ cursor: page.cursor });
  [middleMs] = await time(() => list({ cursor: page.cursor }));
  await hosted.session.sessionManager.appendSessionInfo("Used");
  [changedMs] = await time(() => list());
  [openMs] = await time(() => client.call("sessions.open", { sessionId: "00000007" }));
  await client.call("sessions.close", { sessionId: "00000007" });
}
global.gc();
const { heapUsed, external } = process.memoryUsage();
process.send({ firstMs, pageMs: getMedian(pages), pageCpuMs, middleMs, changedMs, openMs, bytes: heapUsed + external });
client.close();
await close();
process.disconnect();

async function time(work) {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
}

async function generate(index) {
  const timestamp = new Date(index * 60_000).toISOString();
  const id = String(index).padStart(8, "0");
  const message = { role: "user", content: `Question ${index} ${"word ".repeat(100)}`, timestamp: 0 };
  const lines = [
    { type: "session", version: 3, id, timestamp, cwd: "/" },
    { type: "message", id: "00000001", parentId: null, timestamp, message },
    {
      type: "message",
      id: "00000002",
      parentId: "00000001",
      timestamp,
      message: { ...message, role: "assistant", content: [] },
    },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writeFile(join(directory, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`), text);
}
