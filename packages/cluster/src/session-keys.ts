/** Names for sessions that messages from outside go to, which all nodes share. */
import { createHash } from "node:crypto";
import type { Ids } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { isStored, type Storage } from "@tau/harness/session";
import { GatewayError, type SessionKeys } from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import { bucketStream, hookBucket, keySubject } from "./names.ts";

interface ClusterSessionKeysOptions {
  bus: Bus;
  storage: Storage;
  ids: Ids;
  /** Deletes a session of this node that nobody has used. */
  discard: (sessionId: string) => Promise<unknown>;
}

const stream = bucketStream(hookBucket);
const writeMs = 10_000;

export class ClusterSessionKeys implements SessionKeys {
  readonly #options: ClusterSessionKeysOptions;
  readonly #queue = new SerialQueue();

  constructor(options: ClusterSessionKeysOptions) {
    this.#options = options;
  }

  resolve(key: string, create: () => Promise<string>): Promise<string> {
    const subject = keySubject(hookBucket, createHash("sha256").update(key).digest("base64url"));
    return this.#queue.add(async () => {
      const { sessionId, seq } = await this.#find(subject);
      return sessionId ?? (await this.#begin(subject, seq, create));
    });
  }

  async #find(subject: string): Promise<{ sessionId: string | undefined; seq: number }> {
    const { bus, storage } = this.#options;
    const last = await bus.retry(() => bus.readLast(stream, subject));
    if (!last) return { sessionId: undefined, seq: 0 };
    const sessionId = new TextDecoder().decode(last.data);
    return { sessionId: (await isStored(storage, sessionId)) ? sessionId : undefined, seq: last.seq };
  }

  /** The first node that writes the key down decides; a session that came second is deleted again. */
  async #begin(subject: string, after: number, create: () => Promise<string>): Promise<string> {
    const { bus, ids, discard } = this.#options;
    const sessionId = await create();
    const message = { stream, subject, after, id: ids(), giveUpAfterMs: writeMs };
    const outcome = await bus.publish({ ...message, data: new TextEncoder().encode(sessionId) });
    if (outcome.kind === "stored") return sessionId;
    // Others may know of it.
    if (outcome.kind !== "unknown") await discard(sessionId);
    const chosen = outcome.kind === "overtaken" ? (await this.#find(subject)).sessionId : undefined;
    if (chosen !== undefined) return chosen;
    throw new GatewayError("unavailable", "The cluster did not store which session is meant. Try again.");
  }
}
