/** Finds out what became of a session's run and queue after the process that ran it was killed. */
import type { Clock } from "@tau/ai";
import type { AfterCrash } from "@tau/harness/host";
import type { GatewaySettings } from "../settings.ts";
import { toAdopted } from "./adopt.ts";
import { tooOld } from "./decide.ts";
import type { InboxStore } from "./inbox-store.ts";
import { getLogId, type StoredMessage } from "./message.ts";

interface AfterCrashParts {
  store: InboxStore;
  clock: Clock;
  getSettings: () => GatewaySettings;
  wasCut: (sessionId: string) => boolean;
  /** Called with each message that was given up. Its session is not open yet. */
  onGivenUp: (message: StoredMessage) => void;
}

export const createAfterCrash = ({ store, clock, getSettings, wasCut, onGivenUp }: AfterCrashParts): AfterCrash => ({
  wasCut,
  // Messages that were in a session's own queue when its process was killed wait again, unless they are too old.
  async keepQueued(sessionId, queued) {
    const known = [...store.messages.ofSession(sessionId)];
    const kept = new Set<string>();
    for (const entry of queued) {
      const messages = known.filter((message) => getLogId(message) === entry.queueId);
      const acceptedAt = Date.parse(entry.timestamp) || 0;
      const isYoung = clock.now() - acceptedAt < getSettings().queue.ttlMs;
      if (messages.length === 0) await store.accept(toAdopted(entry, { sessionId, acceptedAt }));
      const ids = messages.length === 0 ? [entry.queueId] : messages.map(({ id }) => id);
      if (!isYoung) {
        const dead = ids.flatMap((id) => store.messages.get(id) ?? []).filter(({ state }) => state === "waiting");
        await store.settle(ids, { kind: "dead", reason: tooOld });
        for (const message of dead) onGivenUp({ ...message, state: "dead", reason: tooOld });
      } else if (messages.every(({ state }) => state === "waiting")) kept.add(entry.queueId);
    }
    return kept;
  },
});
