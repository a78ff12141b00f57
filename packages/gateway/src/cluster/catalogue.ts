/** What a list says of each session of a cluster. The node that runs a session writes it; every node reads all. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { SessionManager } from "@tau/harness";
import { type HostedSession, toSessionSummary } from "@tau/harness/host";
import { filterSessions, type SessionInfo, type SessionStorage } from "@tau/harness/session";
import type { MethodData, SessionStatus } from "@tau/protocol/gateway";
import { type Bus, isOutage } from "./bus.ts";
import type { Membership } from "./membership.ts";
import { bucketStream, catalogueBucket, keySubject, toToken } from "./names.ts";

export interface CatalogueOptions {
  bus: Bus;
  membership: Membership;
  storage: SessionStorage;
  clock: Clock;
  log: (line: string) => void;
}

/** Times are texts. */
interface CatalogueEntry {
  info: Omit<SessionInfo, "created" | "modified"> & { created: string; modified: string };
  nodeId: string;
  status: "idle" | "running" | "closed";
}

export interface SessionQuery {
  query?: string;
  named?: boolean;
  sort?: "modified" | "created" | "name";
  cursor?: string;
  limit?: number;
}

const stream = bucketStream(catalogueBucket);
const maxListed = 100;

export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #entries = new Map<string, CatalogueEntry>();
  #lastSeq = 0;
  /** By session, so that the last that is said of one is written last. */
  readonly #writing = new Map<string, SerialQueue>();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  /** Writes down what becomes of a session that was opened here. */
  watch({ session }: HostedSession): void {
    const { sessionId } = session;
    this.#put(sessionId, "idle");
    session.onSessionEvent(({ type }) => {
      if (type === "agent_start") this.#put(sessionId, "running");
      if (type === "agent_end") this.#put(sessionId, "idle");
    });
  }

  /** A session of this node was closed. */
  close(sessionId: string): void {
    this.#put(sessionId, "closed");
  }

  async list({ cursor, limit = maxListed, ...filter }: SessionQuery): Promise<MethodData<"sessions.list">> {
    await this.#refresh();
    const infos = [...this.#entries.values()].map(({ info }) => toInfo(info));
    const matching = filterSessions(infos, filter);
    const start = cursor === undefined ? 0 : matching.findIndex(({ id }) => id === cursor) + 1;
    const page = matching.slice(start, start + Math.min(limit, maxListed));
    const hasMore = start + page.length < matching.length;
    return {
      sessions: page.map((info) => ({ ...toSessionSummary(info), status: this.#getStatus(info) })),
      ...(hasMore && { cursor: page.at(-1)!.id }),
    };
  }

  #getStatus({ id, ending }: SessionInfo): SessionStatus {
    const { nodeId, status } = this.#entries.get(id)!;
    const isAlive = this.#options.membership.liveNodes.includes(nodeId);
    if (status !== "closed" && isAlive) return status;
    return ending === "cut" || status === "running" ? "interrupted" : "closed";
  }

  #put(sessionId: string, status: CatalogueEntry["status"]): void {
    const { log } = this.#options;
    const queue = this.#writing.get(sessionId) ?? new SerialQueue();
    if (status === "closed") this.#writing.delete(sessionId);
    else this.#writing.set(sessionId, queue);
    queue
      .add(() => this.#write(sessionId, status))
      .catch((error: unknown) => {
        // The next event of the session writes it again.
        if (!isOutage(error)) log(`The session ${sessionId} is not listed: ${getErrorMessage(error)}`);
      });
  }

  async #write(sessionId: string, status: CatalogueEntry["status"]): Promise<void> {
    const { bus, membership, storage, clock } = this.#options;
    const info = await SessionManager.describeStored(sessionId, storage);
    // One without an entry is not listed.
    if (!info || bus.nats.isClosed()) return;
    const entry: CatalogueEntry = {
      info: { ...info, created: info.created.toISOString(), modified: new Date(clock.now()).toISOString() },
      nodeId: membership.nodeId,
      status,
    };
    bus.nats.publish(keySubject(catalogueBucket, toToken(sessionId)), JSON.stringify(entry));
  }

  async #refresh(): Promise<void> {
    for (const { seq, data } of await this.#options.bus.readBucket(stream, this.#lastSeq + 1)) {
      const entry = JSON.parse(new TextDecoder().decode(data)) as CatalogueEntry;
      this.#entries.set(entry.info.id, entry);
      this.#lastSeq = Math.max(this.#lastSeq, seq);
    }
  }
}

const toInfo = ({ created, modified, ...info }: CatalogueEntry["info"]): SessionInfo => ({
  ...info,
  created: new Date(created),
  modified: new Date(modified),
});
