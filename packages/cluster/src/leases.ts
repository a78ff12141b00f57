/**
 * Which node runs a session: a key for each session in a bucket names it. It is written once; the node's own key, which
 * is renewed, keeps all its leases. The revision that the write of a lease returned is the epoch of its holder, unless the
 * session's log already has a later one.
 */
import { hostname } from "node:os";
import type { Ids } from "@tau/ai";
import { isSessionId, type LogHolder } from "@tau/harness/session";
import { GatewayError } from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import type { Membership } from "./membership.ts";
import { bucketStream, fromToken, keySubject, leaseBucket, toToken } from "./names.ts";

interface LeaseRecord {
  /** Undefined: nobody holds it. */
  nodeId?: string;
  /** New each time it is acquired. */
  holderId: string;
  /** Nobody may acquire it before the session is restored. */
  isTrashed?: boolean;
  pid: number;
  host: string;
}

export interface HeldLease {
  /** Grows each time the lease of a session is acquired, by whichever node. */
  readonly epoch: number;
  /** Makes it the first epoch after this one, unless it is later anyway: servers that lost leases count from the beginning. */
  moveAfter(epoch: number): void;
  isLost(): boolean;
  /** Gives it back. Does nothing when it is lost. Answers whether it was given back. */
  release(state?: Pick<LeaseRecord, "isTrashed">): Promise<boolean>;
}

interface LeasesOptions {
  bus: Bus;
  membership: Membership;
  ids: Ids;
}

const stream = bucketStream(leaseBucket);
const leaseMs = 10_000;
/** How often others may be faster before it is given up. */
const maxTries = 20;

export class SessionLeases {
  readonly #options: LeasesOptions;
  /** By the id of the holder. */
  readonly #held = new Map<string, { sessionId: string; nodeId: string }>();
  /** By session. */
  readonly #epochs = new Map<string, number>();
  /** Sessions that were acquired from a node that did not give them back. */
  readonly #abandoned = new Set<string>();
  /** Sessions whose leases are not given back. */
  readonly #kept = new Set<string>();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  get nodeId(): string {
    return this.#options.membership.nodeId;
  }

  /** The epoch of a session that this node holds; undefined if it does not. */
  getEpoch(sessionId: string): number | undefined {
    return this.#epochs.get(sessionId);
  }

  /** Acquires the lease of a session, unless a node that is alive holds it. Throws `not_found` for one in the trash. */
  async acquire(sessionId: string): Promise<{ kind: "held"; lease: HeldLease } | { kind: "busy"; holder: LogHolder }> {
    const { membership, ids } = this.#options;
    for (let tries = 0; tries < maxTries; tries++) {
      const { nodeId } = membership;
      if (!membership.isSelf(nodeId)) throw notNow(sessionId, "this node has no part in the cluster");
      const last = await this.#read(sessionId);
      if (last?.record.isTrashed) throw inTrash(sessionId);
      if (last && (await this.#isHeld(last.record))) return { kind: "busy", holder: toHolder(last.record, last.seq) };
      const holderId = ids();
      const outcome = await this.#write(sessionId, { after: last?.seq ?? 0, id: holderId }, { nodeId, holderId });
      if (outcome.kind === "stored") {
        if (last?.record.nodeId !== undefined) this.#abandoned.add(sessionId);
        return { kind: "held", lease: this.#hold(sessionId, holderId, outcome.seq) };
      }
      // If it was stored all the same, it is free: `#held` does not have it.
      if (outcome.kind !== "overtaken") throw notNow(sessionId, outcome.reason);
    }
    throw notNow(sessionId, "other nodes were faster");
  }

  /** Moves a session to the trash that nobody runs. False if a node holds it. */
  async trash(sessionId: string): Promise<false | { epoch: number }> {
    const outcome = await this.acquire(sessionId);
    if (outcome.kind === "busy") return false;
    const { epoch, release } = outcome.lease;
    if (await release({ isTrashed: true })) return { epoch };
    throw new GatewayError("unavailable", `The session ${sessionId} could not be moved to the trash. Try again.`);
  }

  /** Takes a session out of the trash. False if it is not in it. */
  async restore(sessionId: string): Promise<false | { epoch: number }> {
    const { ids } = this.#options;
    for (let tries = 0; tries < maxTries; tries++) {
      const last = await this.#read(sessionId);
      if (!last?.record.isTrashed) return false;
      const holderId = ids();
      const outcome = await this.#write(sessionId, { after: last.seq, id: holderId }, { holderId });
      if (outcome.kind === "stored") return { epoch: outcome.seq };
      if (outcome.kind !== "overtaken") break;
    }
    throw new GatewayError("unavailable", `The session ${sessionId} could not be restored. Try again.`);
  }

  async isTrashed(sessionId: string): Promise<boolean> {
    return (await this.#read(sessionId))?.record.isTrashed === true;
  }

  /** From now on the lease of a session is not given back: whoever takes it after this node finds it abandoned. */
  keep(sessionId: string): void {
    this.#kept.add(sessionId);
  }

  /** Whether the node that held a session before was lost, or left in the middle of a run. */
  wasAbandoned(sessionId: string): boolean {
    return this.#abandoned.has(sessionId);
  }

  /** The node that holds a session, as far as is known; undefined if none does. */
  async findOwner(sessionId: string): Promise<string | undefined> {
    const last = await this.#read(sessionId);
    return last && (await this.#isHeld(last.record)) ? last.record.nodeId : undefined;
  }

  /** The sessions that a node held when it died. */
  async listHeldBy(nodeId: string): Promise<string[]> {
    const messages = await this.#options.bus.readBucket(stream);
    // The last record of each: a lease that is written meanwhile is read twice.
    const records = new Map(messages.map(({ subject, data }) => [subject, decode(data)]));
    const held = [...records].filter(([, record]) => record.nodeId === nodeId);
    const names = held.map(([subject]) => fromToken(subject.slice(keySubject(leaseBucket, "").length)));
    return names.filter(isSessionId);
  }

  #hold(sessionId: string, holderId: string, revision: number): HeldLease {
    const { membership } = this.#options;
    const { nodeId } = membership;
    let epoch = revision;
    this.#held.set(holderId, { sessionId, nodeId });
    this.#epochs.set(sessionId, epoch);
    return {
      get epoch() {
        return epoch;
      },
      moveAfter: (lastEpoch) => {
        epoch = Math.max(epoch, lastEpoch + 1);
        this.#epochs.set(sessionId, epoch);
      },
      isLost: () => !this.#held.has(holderId) || !membership.isSelf(nodeId),
      release: async (state = {}) => {
        this.#abandoned.delete(sessionId);
        if (this.#epochs.get(sessionId) === epoch) this.#epochs.delete(sessionId);
        const isOurs = this.#held.delete(holderId) && membership.isSelf(nodeId);
        // What is not given back is taken by whoever finds that it is not held.
        if (!isOurs || this.#kept.has(sessionId)) return false;
        const id = `${holderId}-released`;
        return (await this.#write(sessionId, { after: revision, id }, { holderId, ...state })).kind === "stored";
      },
    };
  }

  /** Whether a node holds a lease. A lease of this node's own that it does not know of is free: the answer to it was lost. */
  async #isHeld({ nodeId, holderId }: LeaseRecord): Promise<boolean> {
    const { membership } = this.#options;
    if (nodeId === undefined) return false;
    if (membership.isSelf(nodeId)) return this.#held.has(holderId);
    return !(await membership.isDead(nodeId));
  }

  async #write(
    sessionId: string,
    { after, id }: { after: number; id: string },
    record: Pick<LeaseRecord, "nodeId" | "holderId" | "isTrashed">,
  ) {
    const data = new TextEncoder().encode(JSON.stringify({ ...record, pid: process.pid, host: hostname() }));
    return await this.#options.bus.publish({
      stream,
      subject: toSubject(sessionId),
      data,
      after,
      id,
      giveUpAfterMs: leaseMs,
    });
  }

  async #read(sessionId: string): Promise<{ seq: number; record: LeaseRecord } | undefined> {
    const { bus } = this.#options;
    const last = await bus.retry(() => bus.readLast(stream, toSubject(sessionId)));
    return last && { seq: last.seq, record: decode(last.data) };
  }
}

const inTrash = (sessionId: string) =>
  new GatewayError("not_found", `The session ${sessionId} was deleted. Restore it before you open it.`);

const notNow = (sessionId: string, reason: string) =>
  new GatewayError("unavailable", `The session ${sessionId} cannot be opened now: ${reason}. Try again.`, {
    retryAfterMs: 1_000,
  });

const toSubject = (sessionId: string) => keySubject(leaseBucket, toToken(sessionId));

const decode = (data: Uint8Array): LeaseRecord => JSON.parse(new TextDecoder().decode(data)) as LeaseRecord;

const toHolder = ({ pid, host }: LeaseRecord, epoch: number): LogHolder => ({
  name: `process ${pid} of ${host}`,
  generation: epoch,
});
