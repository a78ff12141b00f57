/** Clients of this node that follow a session which was lost: each continues with a snapshot from wherever it is opened next. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, sleep } from "@tau/ai/internal";
import type { Client, ClusterGateway } from "@tau/gateway/port";
import { RemoteClient } from "./remote-client.ts";

interface FollowingOptions {
  gateway: Pick<ClusterGateway, "callMethod" | "subscriptions">;
  clock: Clock;
  log: (line: string) => void;
}

const pauseMs = 200;

/** A client that waits for a session. */
interface Wait {
  readonly client: Client;
  readonly sessionId: string;
  /** The client is gone, or does not want it any more. */
  isOver: boolean;
}

export class Following {
  readonly #options: FollowingOptions;
  readonly #waits = new Set<Wait>();
  #isClosed = false;

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /**
   * Subscribes a client again as soon as that is possible, but not before the session is closed here. A client of another
   * node is left to that node.
   */
  async followAgain(client: Client, sessionId: string, closing?: Promise<unknown>): Promise<void> {
    if (client instanceof RemoteClient) return;
    const wait: Wait = { client, sessionId, isOver: false };
    this.#waits.add(wait);
    const stopListening = client.onClosed(() => (wait.isOver = true));
    await closing;
    while (!wait.isOver && !this.#isClosed) {
      if (await this.#subscribe(wait)) break;
      await sleep(this.#options.clock, pauseMs);
    }
    stopListening();
    this.#waits.delete(wait);
  }

  /** The client does not follow the session any more. */
  cancel(client: Client, sessionId: string): void {
    for (const wait of this.#waits) if (wait.client === client && wait.sessionId === sessionId) wait.isOver = true;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** False if it may succeed later. */
  async #subscribe(wait: Wait): Promise<boolean> {
    const { client, sessionId } = wait;
    const { gateway, log } = this.#options;
    const later: (() => void)[] = [];
    const context = { client, requestId: "follow", afterResponse: (act: () => void) => void later.push(act) };
    const call = (method: string) => gateway.callMethod(context, { method, params: { sessionId } });
    try {
      await call("sessions.subscribe");
      for (const act of later) act();
      if (wait.isOver) await call("sessions.unsubscribe");
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "unavailable" || code === "unknown_outcome" || code === "overtaken") return false;
      log(`The session ${sessionId} cannot be followed any more: ${getErrorMessage(error)}`);
      gateway.subscriptions.tellClosed(client, sessionId, "moved");
    }
    return true;
  }
}
