/** A gateway that is killed at any moment: what it has acknowledged is said once. */
import type { InboxMessageData } from "@tau/protocol/gateway";
import { expect, test } from "vitest";
import { createPlace, readSessions, startChild, useChildren } from "./fixtures/child.ts";

useChildren();

const rounds = Number(process.env["KILLS"]) || (process.env["TAU_LONG"] ? 500 : 8);
const seed = Number(process.env["SEED"]) || 20_261_116;

/** Numbers from 0 to 1 that depend only on the seed. */
function createRandom(): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How often each message is in the logs. */
function countSaid(sessions: ReturnType<typeof readSessions>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entries of sessions.values()) {
    for (const entry of entries) {
      if (entry.type !== "message" || entry.message.role !== "user") continue;
      for (const [token] of JSON.stringify(entry.message.content).matchAll(/<m\d+>/g)) {
        counts.set(token, (counts.get(token) ?? 0) + 1);
      }
    }
  }
  return counts;
}

test(
  `a gateway that is killed ${rounds} times loses no message and says none twice, also when it is sent again with its key`,
  { timeout: 3_600_000 },
  async () => {
    const random = createRandom();
    const place = createPlace();
    const modes = ["steer", "followup", "collect", "interrupt"];
    const sessionIds: string[] = [];
    const sent: string[] = [];
    const acknowledged = new Set<string>();
    const refused: unknown[] = [];
    /** Messages without an answer, because the gateway was killed. They are sent again with their keys. */
    const unanswered = new Map<string, { sessionId: string; message: string; queueMode: string | undefined }>();
    let repeatedCount = 0;
    for (let round = 0; round < rounds; round++) {
      const { client, end } = await startChild(place, "answers");
      let isKilled = false;
      const sendTo = async (sessionId: string) => {
        const message = `<m${sent.length}>`;
        sent.push(message);
        const queueMode = modes[Math.floor(random() * modes.length)];
        unanswered.set(message, { sessionId, message, queueMode });
        await submit(message);
      };
      const submit = async (message: string) => {
        const params = { ...unanswered.get(message), idempotencyKey: message };
        const response = await client.call("session.prompt", params);
        unanswered.delete(message);
        if (response.ok) acknowledged.add(message);
        else if (!isNewSession(params.sessionId!)) refused.push(response.error);
      };
      // A session without an entry has no file, and is gone with its gateway.
      const isNewSession = (sessionId: string) => !sessionIds.includes(sessionId);
      const toRepeat = Array.from(unanswered.keys());
      for (const message of toRepeat) {
        repeatedCount++;
        await submit(message);
      }
      const send = async () => {
        while (!isKilled) {
          const known = sessionIds[Math.floor(random() * sessionIds.length)];
          if (known !== undefined && random() < 0.95) await sendTo(known);
          else {
            const created = await client.must<{ sessionId: string }>("sessions.create", { cwd: place.workspace });
            // Without a message, it has no file yet and is forgotten.
            await sendTo(created.sessionId);
            sessionIds.push(created.sessionId);
          }
        }
      };
      // The socket is closed when the gateway is killed, and what waits for an answer fails.
      const senders = [send(), send(), send()].map((each) => each.catch(() => undefined));
      const before = acknowledged.size;
      await expect.poll(() => acknowledged.size, { interval: 1 }).toBeGreaterThan(before + Math.floor(random() * 12));
      isKilled = true;
      await end("SIGKILL");
      await Promise.all(senders);
    }
    const last = await startChild(place, "answers");
    const list = async (state: string) =>
      (await last.client.must<{ messages: InboxMessageData[] }>("inbox.list", { state })).messages;
    await expect.poll(() => list("waiting"), { timeout: 120_000 }).toEqual([]);
    const dead = await list("dead");
    await last.end("SIGTERM");
    const counts = countSaid(readSessions(place));
    const lost = [...acknowledged].filter((message) => !counts.has(message));
    const twice = [...counts].filter(([, count]) => count > 1);
    expect(repeatedCount).toBeGreaterThan(0);
    console.log(
      `${rounds} kills (seed ${seed}): ${acknowledged.size} of ${sent.length} messages acknowledged, ${repeatedCount} repeated, ${sessionIds.length} sessions`,
    );
    expect({ lost, twice, dead, refused }).toEqual({ lost: [], twice: [], dead: [], refused: [] });
  },
);
