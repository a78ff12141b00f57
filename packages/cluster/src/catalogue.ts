/** The entries of a cluster's list of sessions. The node that runs a session writes it; every node reads all. */
import type { Clock, Ids } from "@tau/ai";
import { closeAfter, getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { SessionManager } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import {
  compareSessions,
  filterSessions,
  isStored,
  pickSession,
  type SessionInfo,
  type Storage,
  sumUsage,
} from "@tau/harness/session";
import type { MethodData, SessionStatus } from "@tau/protocol/gateway";
import { type ClusterCatalogue, cutPage, type SessionQuery, toListedSession } from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import type { SessionLeases } from "./leases.ts";
import type { Membership } from "./membership.ts";
import { bucketStream, catalogueBucket, keySubject, toToken } from "./names.ts";

interface CatalogueOptions {
  bus: Bus;
  membership: Membership;
  leases: SessionLeases;
  storage: Storage;
  /** With the sessions in the trash. */
  wholeStorage: Storage;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

/** Times are texts. */
interface CatalogueEntry {
  info: Omit<SessionInfo, "created" | "modified"> & { created: string; modified: string };
  nodeId: string;
  /** The epoch of the lease that its writer held last. An entry of an earlier one never takes its place. */
  epoch: number;
  status: "idle" | "running" | "closed";
  isTrashed: boolean;
  /** All that it has used, when its last run ended. */
  usage: { tokens: number; cost: number };
}

type EntryChange = Partial<Pick<CatalogueEntry, "status" | "isTrashed" | "usage">> & {
  epoch: number;
  /** By the clock. It is written later. */
  atMs: number;
  /** Whether something was said or done in it. Default false. */
  isUse?: boolean;
};

const stream = bucketStream(catalogueBucket);
const maxListed = 100;
const writeMs = 10_000;
/** How often another writer may be faster. */
const maxTries = 5;
/** How many of the last used sessions are counted. */
const maxCounted = 1_000;

export class Catalogue implements ClusterCatalogue {
  readonly #options: CatalogueOptions;
  readonly #entries = new Map<string, CatalogueEntry & { seq: number }>();
  #lastSeq = 0;
  /** By session, so that the last that is said of one is written last. */
  readonly #writing = new Map<string, SerialQueue>();
  /** The known epochs of sessions that are open here. */
  readonly #epochs = new Map<string, number>();
  readonly #left = new Set<string>();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  /** Writes down what becomes of a session that was opened here. */
  watch({ session }: HostedSession): void {
    const { sessionId } = session;
    this.#put(sessionId, async () => ({ status: "idle" }));
    session.onSessionEvent((event) => {
      if (event.type === "agent_start") this.#put(sessionId, async () => ({ status: "running", isUse: true }));
      if (event.type === "agent_end") {
        this.#put(sessionId, async () => {
          const { tokens, cost } = await session.sessionManager.getTotals();
          return { status: "idle", isUse: true, usage: { tokens: tokens.total, cost } };
        });
      }
      if (event.type === "entry_appended" && event.entry.type === "session_info") {
        this.#put(sessionId, async () => ({ isUse: true }));
      }
    });
  }

  /** A new session of this node was stored. Before, there was nothing to list. */
  add(sessionId: string): void {
    this.#put(sessionId, async () => ({ status: "idle" }));
  }

  /** A session of this node was closed. */
  close(sessionId: string): void {
    this.#put(sessionId, async () => ({ status: "closed" }));
    this.#epochs.delete(sessionId);
  }

  /** Resolves when every node may know. */
  async setTrashed(sessionId: string, isTrashed: boolean, epoch: number): Promise<void> {
    const atMs = this.#options.clock.now();
    await this.#enqueue(sessionId, () =>
      this.#write(sessionId, { isTrashed, epoch, atMs, ...(isTrashed && { status: "closed" }) }),
    );
  }

  async list({ limit = maxListed, cwd, ...options }: SessionQuery): Promise<MethodData<"sessions.list">> {
    const infos = (await this.#listInfos()).filter((info) => cwd === undefined || info.cwd === cwd);
    const page = cutPage(filterSessions(infos, options), { ...options, limit: Math.min(limit, maxListed) });
    return {
      sessions: page.sessions.map((info) => toListedSession(info, this.#getStatus(info))),
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    };
  }

  /** The directory of a session, as far as is known. */
  async findCwd(sessionId: string): Promise<string | undefined> {
    await this.#refresh();
    return this.#entries.get(sessionId)?.info.cwd;
  }

  /** The id that a reference means: one, or the unique beginning of one. Undefined if no session is known for it. */
  async resolve(reference: string, { isTrashed }: Pick<CatalogueEntry, "isTrashed">): Promise<string | undefined> {
    const infos = await this.#listInfos(isTrashed);
    // Lists show the name of the stream before the id.
    return pickSession(reference.replace(/^tau-log-\d\d\//, ""), infos)?.id;
  }

  /** The sessions that were used since, those that were used last first. */
  async listUsedSince(from: Date): Promise<string[]> {
    const used = (await this.#listInfos()).filter(({ modified }) => modified >= from);
    return used.slice(0, maxCounted).map(({ id }) => id);
  }

  /** Sums up what a session has used since, without opening it. Undefined if there is none. */
  async readUsage(sessionId: string, from: Date): Promise<CatalogueEntry["usage"] | undefined> {
    const { storage } = this.#options;
    await this.#refresh();
    const entry = this.#entries.get(sessionId);
    if (entry?.isTrashed) return undefined;
    // The whole session is known without its log.
    if (entry && from <= new Date(entry.info.created) && entry.status !== "running") return entry.usage;
    if (!(await isStored(storage, sessionId))) return undefined;
    const manager = await SessionManager.openStored(sessionId, { storage, access: "read" });
    return await closeAfter(manager, () => sumUsage(manager, from));
  }

  /** The last used first. */
  async #listInfos(isTrashed = false): Promise<SessionInfo[]> {
    await this.#refresh();
    const entries = [...this.#entries.values()].filter((entry) => entry.isTrashed === isTrashed);
    return entries.map(({ info }) => toInfo(info)).sort(compareSessions.modified);
  }

  #getStatus({ id, ending }: SessionInfo): SessionStatus {
    const { nodeId, status } = this.#entries.get(id)!;
    const isAlive = this.#options.membership.liveNodes.includes(nodeId);
    if (status !== "closed" && isAlive) return status;
    return ending === "cut" || status === "running" ? "interrupted" : "closed";
  }

  /** Nothing more is written of a session: its run is cut, and not at its end. */
  leave(sessionId: string): void {
    this.#left.add(sessionId);
  }

  #put(sessionId: string, getChange: () => Promise<Omit<EntryChange, "epoch" | "atMs">>): void {
    if (this.#left.has(sessionId)) return;
    const { log, leases, clock } = this.#options;
    const atMs = clock.now();
    const epoch = leases.getEpoch(sessionId) ?? this.#epochs.get(sessionId) ?? 0;
    this.#epochs.set(sessionId, epoch);
    this.#enqueue(sessionId, async () => this.#write(sessionId, { ...(await getChange()), epoch, atMs })).catch(
      (error: unknown) => {
        // The next event of the session writes it again.
        if ((error as { code?: unknown }).code !== "unavailable")
          log(`The session ${sessionId} is not listed: ${getErrorMessage(error)}`);
      },
    );
  }

  async #enqueue(sessionId: string, work: () => Promise<void>): Promise<void> {
    const queue = this.#writing.get(sessionId) ?? new SerialQueue();
    this.#writing.set(sessionId, queue);
    try {
      await queue.add(work);
    } finally {
      if (queue.isIdle && this.#writing.get(sessionId) === queue) this.#writing.delete(sessionId);
    }
  }

  async #write(sessionId: string, { atMs, isUse = false, ...change }: EntryChange): Promise<void> {
    const { bus, membership, wholeStorage, ids } = this.#options;
    const info = await SessionManager.describeStored(sessionId, wholeStorage);
    // One without an entry is not listed.
    if (!info || bus.nats.isClosed()) return;
    const subject = keySubject(catalogueBucket, toToken(sessionId));
    for (let tries = 0; tries < maxTries; tries++) {
      const last = await bus.retry(() => bus.readLast(stream, subject));
      const previous = last && decode(last.data);
      // Another node has it now.
      if (previous && previous.epoch > change.epoch) return;
      const lastMs = previous ? Date.parse(previous.info.modified) : atMs;
      const modified = new Date(isUse ? Math.max(lastMs, atMs) : lastMs).toISOString();
      const entry: CatalogueEntry = {
        status: "closed",
        isTrashed: false,
        usage: { tokens: 0, cost: 0 },
        ...previous,
        ...change,
        info: { ...info, created: info.created.toISOString(), modified },
        nodeId: membership.nodeId,
      };
      const outcome = await bus.publish({
        stream,
        subject,
        data: new TextEncoder().encode(JSON.stringify(entry)),
        after: last?.seq ?? 0,
        id: ids(),
        giveUpAfterMs: writeMs,
      });
      if (outcome.kind !== "overtaken") return;
    }
  }

  async #refresh(): Promise<void> {
    for (const { seq, data } of await this.#options.bus.readBucket(stream, this.#lastSeq + 1)) {
      const entry = { ...decode(data), seq };
      const known = this.#entries.get(entry.info.id);
      // Two of these may run at once, and the one that began first may end last.
      if (!known || known.seq < seq) this.#entries.set(entry.info.id, entry);
      this.#lastSeq = Math.max(this.#lastSeq, seq);
    }
  }
}

const decode = (data: Uint8Array) => JSON.parse(new TextDecoder().decode(data)) as CatalogueEntry;

const toInfo = ({ created, modified, ...info }: CatalogueEntry["info"]): SessionInfo => ({
  ...info,
  created: new Date(created),
  modified: new Date(modified),
});
