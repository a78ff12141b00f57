/**
 * A process that writes to a session, for tests that kill it. Arguments: the file, the durability, and how many entries to
 * write (`forever`, or a number with about `turns` entries per opening). It prints `begin` before each append and `ack`
 * after it.
 */
import { writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Durability } from "../../src/session/append-queue.ts";
import { SessionManager } from "../../src/session/session-manager.ts";

const [path = "", durability = "strict", quota = "forever", turn = "1", name = ""] = process.argv.slice(2);
const print = (text: string) => writeSync(1, `${text}\n`);
const random = (limit: number) => Math.floor(Math.random() * limit);

async function openToWrite(): Promise<SessionManager> {
  for (;;) {
    const session = await SessionManager.open(path, { durability: durability as Durability });
    if (!session.readOnly) return session;
    if (session.readOnly.reason !== "held") throw new Error(JSON.stringify(session.readOnly));
    await session.close();
    await wait(2 + random(10));
  }
}

const append = async (session: SessionManager, text: string) => {
  print("begin");
  const id = await session.appendMessage({ role: "user", content: text, timestamp: 0 });
  print(`ack ${id}`);
};

if (quota === "forever") {
  const session = await openToWrite();
  print("open");
  for (;;) await append(session, "x".repeat(random(10) === 0 ? random(200_000) : random(400)));
}

for (let left = Number(quota); left > 0;) {
  const session = await openToWrite();
  const share = Math.min(left, 1 + random(2 * Number(turn) - 1));
  for (let index = 0; index < share; index++) await append(session, name);
  left -= share;
  await session.close();
  // Another process can acquire the lease now.
  await wait(1 + random(4));
}
