/** Appends to a session until the process is killed, and prints the id of each entry that is acknowledged. */
import { writeSync } from "node:fs";
import type { Storage } from "@tau/tools/storage";
import { SessionManager } from "../../src/session/session-manager.ts";

export async function writeUntilKilled(storage: Storage): Promise<void> {
  const session = await SessionManager.continueStored("/", "killed", { storage });
  for (let count = 0; !session.readOnly; count++) {
    const content = "x".repeat(count % 7 === 0 ? 100_000 : count);
    const id = await session.appendMessage({ role: "user", content, timestamp: 0 });
    writeSync(1, `${id}\n`);
  }
}
