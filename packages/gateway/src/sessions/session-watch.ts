/** Reports to clients that show a list of sessions which of them have changed. */
import type { Clock } from "@tau/ai";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEvent } from "@tau/protocol";
import type { OpenSessionData } from "@tau/protocol/gateway";
import { type Client, maxBufferedBytes } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";

interface SessionWatchOptions {
  clock: Clock;
  /** Undefined if it is not open. */
  describe: (sessionId: string) => OpenSessionData | undefined;
}

/** Changes within this time are reported together. */
const collectMs = 250;

export class SessionWatch {
  readonly #options: SessionWatchOptions;
  /** By client, the changes that were not reported because it read too slowly. */
  readonly #clients = new Map<Client, Set<string>>();
  readonly #changed = new Set<string>();
  #cancelTimer: (() => void) | undefined;

  constructor(options: SessionWatchOptions) {
    this.#options = options;
  }

  /** Reports changes to the client from now on, until it leaves. */
  add(client: Client): void {
    if (this.#clients.has(client)) return;
    this.#clients.set(client, new Set());
    client.onClosed(() => this.#clients.delete(client));
  }

  onOpened({ session }: HostedSession): void {
    const { sessionId } = session;
    this.#take(sessionId);
    session.onSessionEvent((event) => {
      if (isListed(event)) this.#take(sessionId);
    });
  }

  /** It was closed, deleted or restored. */
  markChanged(sessionId: string): void {
    this.#take(sessionId);
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #take(sessionId: string): void {
    if (this.#clients.size === 0) return;
    this.#changed.add(sessionId);
    this.#cancelTimer ??= this.#options.clock.setTimer(collectMs, () => this.#tell());
  }

  #tell(): void {
    this.#cancelTimer = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    const shared = this.#encode(changed);
    for (const [client, missed] of this.#clients) {
      if (client.bufferedBytes > maxBufferedBytes / 2) {
        for (const sessionId of changed) missed.add(sessionId);
        continue;
      }
      const untold = missed.size === 0 ? changed : [...new Set([...missed, ...changed])];
      missed.clear();
      if (untold.length > 0) client.send(untold === changed ? shared : this.#encode(untold));
    }
    const hasMissed = [...this.#clients.values()].some(({ size }) => size > 0);
    if (hasMissed) this.#cancelTimer = this.#options.clock.setTimer(collectMs, () => this.#tell());
  }

  #encode(sessionIds: readonly string[]) {
    const sessions = sessionIds.map((sessionId) => this.#options.describe(sessionId) ?? { sessionId });
    return encodeFrame({ type: "event", event: "sessions.changed", payload: { sessions } });
  }
}

/** Whether a list would show something else afterwards. */
function isListed(event: SessionEvent): boolean {
  switch (event.type) {
    case "agent_start":
    case "agent_end":
    case "approval_requested":
    case "approval_resolved":
      return true;
    case "entry_appended":
      return event.entry.type === "session_info";
    default:
      return false;
  }
}
