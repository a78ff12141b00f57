/**
 * Which nodes are alive. Every node has a key in a bucket, which it renews; who finds that a key has not changed for long
 * enough writes into it that the node is dead. Both are decided by the revision of the key: whichever is stored first wins,
 * and the other learns it. A node that is declared dead has lost all its sessions, and joins again as another.
 */
import { hostname } from "node:os";
import type { Subscription } from "@nats-io/transport-node";
import type { Clock, Ids } from "@tau/ai";
import { asRecord, getErrorMessage, sleep, tryParseJson, withoutUndefined } from "@tau/ai/internal";
import { type FieldValues, flag, nonEmptyText, optional, wholeNumber } from "@tau/config/fields";
import { GatewayError, isGatewayError, mustParse } from "@tau/gateway/port";
import { type Bus, isOutage } from "./bus.ts";
import { listen } from "./listen.ts";
import { bucketStream, keySubject, nodeBucket } from "./names.ts";
import type { ClusterTiming } from "./options.ts";

const defaultTiming: ClusterTiming = { beatMs: 1_500, deadAfterMs: 6_000, holdMs: 15_000 };

interface MembershipOptions {
  bus: Bus;
  /** The name of this node, the same after a restart. */
  name: string;
  clock: Clock;
  ids: Ids;
  timing?: ClusterTiming;
  log: (line: string) => void;
}

interface NodeRecord {
  pid: number;
  host: string;
  isDead?: boolean;
}

/** A message from each node to all others, so that none has to read the keys of all. */
type Beat = FieldValues<typeof beatFields>;

const beatFields = {
  nodeId: nonEmptyText,
  revision: wholeNumber({ min: 0, unit: "revisions" }),
  isDead: optional(flag),
};

/** Another node. */
interface Peer {
  revision: number;
  /** When its key was last seen to change. */
  changedMs: number;
}

/** This node as the others know it, until it is declared dead. */
interface Incarnation {
  readonly nodeId: string;
  revision: number;
  lastBeatMs: number;
  /** Since when all beats were in time. */
  steadySinceMs: number;
  isLost: boolean;
}

const stream = bucketStream(nodeBucket);

export class Membership {
  readonly #options: MembershipOptions;
  readonly #timing: ClusterTiming;
  #self: Incarnation | undefined;
  readonly #peers = new Map<string, Peer>();
  readonly #dead = new Set<string>();
  #beats: Subscription | undefined;
  readonly #stopping = new AbortController();
  #working: Promise<void> | undefined;
  /** Called when this node has lost everything it owned; it joins again by itself. */
  onLost: (reason: string) => void = () => undefined;
  /** Called when another node is known to be dead. */
  onDead: (nodeId: string) => void = () => undefined;

  private constructor(options: MembershipOptions) {
    this.#options = options;
    this.#timing = options.timing ?? defaultTiming;
  }

  static async open(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options);
    const { bus, log } = options;
    membership.#beats = listen(bus.nats, "tau.beat.*", {
      log,
      take: (message) => {
        // A node of a later version may say more.
        const { nodeId, revision, isDead } = asRecord(tryParseJson(message.string()));
        membership.#hear(mustParse(beatFields, withoutUndefined({ nodeId, revision, isDead })));
      },
    });
    membership.#self = await membership.#join();
    membership.#working = membership.#work();
    return membership;
  }

  /** New after each time that this node was declared dead. */
  get nodeId(): string {
    return this.#self?.nodeId ?? "none";
  }

  get timing(): ClusterTiming {
    return this.#timing;
  }

  /** Nodes that have been heard of lately, this one included. */
  get liveNodes(): string[] {
    return [this.nodeId, ...this.#peers.keys()];
  }

  /** False between being declared dead and joining again. */
  get isMember(): boolean {
    return this.#self !== undefined;
  }

  /** Nodes that this one has seen die, or found dead. */
  get deadNodes(): string[] {
    return [...this.#dead];
  }

  /** Whether a node is known to be dead, without asking anybody. */
  isKnownDead(nodeId: string): boolean {
    return this.#dead.has(nodeId);
  }

  /** Whether this node still is the one with this id. A process that was stopped for long does not know it yet. */
  isSelf(nodeId: string): boolean {
    const self = this.#self;
    return self?.nodeId === nodeId && !self.isLost && !this.#isLate(self);
  }

  #isLate({ lastBeatMs }: Incarnation): boolean {
    return this.#options.clock.monotonic() - lastBeatMs > this.#timing.holdMs;
  }

  /** Whether a node is dead for good. One that only may be is watched from now on, and declared dead when it is time. */
  async isDead(nodeId: string): Promise<boolean> {
    if (this.#dead.has(nodeId)) return true;
    if (this.isSelf(nodeId) || this.#peers.has(nodeId)) return false;
    const last = await this.#options.bus.retry(() => this.#read(nodeId));
    // Its key is gone: it has been dead for long, or nobody ever was it.
    if (!last) return await this.#declareDead(nodeId, 0);
    if (last.record.isDead) return this.#bury(nodeId);
    this.#peers.set(nodeId, { revision: last.seq, changedMs: this.#options.clock.monotonic() });
    return false;
  }

  /** Says that this node stops: its sessions can be taken at once. */
  async close(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#beats?.unsubscribe();
    await this.#working;
    const self = this.#self;
    if (self && !self.isLost) {
      self.isLost = true;
      await this.#declareDead(self.nodeId, self.revision);
    }
  }

  async #join(): Promise<Incarnation> {
    const { bus, name, ids, clock } = this.#options;
    const nodeId = `${name}.${ids().replaceAll("-", "").slice(0, 12)}`;
    const outcome = await bus.publish({
      ...this.#place(nodeId),
      data: encode({ pid: process.pid, host: hostname() }),
      after: 0,
      id: nodeId,
      giveUpAfterMs: this.#timing.holdMs,
    });
    if (outcome.kind !== "stored") {
      const why = "reason" in outcome ? outcome.reason : "another node has its name";
      throw new GatewayError("unavailable", `This node cannot join the cluster: ${why}.`);
    }
    this.#tell({ nodeId, revision: outcome.seq });
    const nowMs = clock.monotonic();
    return { nodeId, revision: outcome.seq, lastBeatMs: nowMs, steadySinceMs: nowMs, isLost: false };
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    let judging: Promise<void> | undefined;
    while ((await sleep(clock, this.#timing.beatMs, this.#stopping.signal)) === "elapsed") {
      await this.#attempt(async () => {
        if (this.#self) await this.#beat(this.#self);
        else this.#self = await this.#join();
      });
      // To read the keys of others may take longer than others wait for the next beat.
      judging ??= this.#attempt(() => this.#judge()).finally(() => (judging = undefined));
    }
  }

  /** Whatever happens, a node that stops beating is dead to the others. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isOutage(error) || isGatewayError(error)) return;
      this.#options.log(`The node failed: ${getErrorMessage(error)}`);
    }
  }

  async #beat(self: Incarnation): Promise<void> {
    const { bus, clock } = this.#options;
    const outcome = await bus.publish({
      ...this.#place(self.nodeId),
      data: encode({ pid: process.pid, host: hostname() }),
      after: self.revision,
      // The same each time: a beat whose answer was lost has the effect of one that was answered.
      id: self.nodeId,
      giveUpAfterMs: this.#timing.beatMs,
    });
    const nowMs = clock.monotonic();
    if (outcome.kind === "stored") {
      if (nowMs - self.lastBeatMs > 2 * this.#timing.beatMs) self.steadySinceMs = nowMs;
      self.revision = outcome.seq;
      self.lastBeatMs = nowMs;
      this.#tell({ nodeId: self.nodeId, revision: outcome.seq });
    } else if (outcome.kind === "overtaken") {
      this.#lose(self, "another node has declared this one dead");
    } else if (this.#isLate(self)) {
      this.#lose(self, `the cluster could not be reached for ${this.#timing.holdMs / 1000} seconds`);
    }
  }

  #lose(self: Incarnation, reason: string): void {
    self.isLost = true;
    this.#self = undefined;
    this.#options.log(`This node has lost its sessions: ${reason}.`);
    this.onLost(reason);
  }

  #hear({ nodeId, revision, isDead = false }: Beat): void {
    if (nodeId === this.nodeId || this.#dead.has(nodeId)) return;
    if (isDead) return void this.#verifyDeath(nodeId);
    const peer = this.#peers.get(nodeId);
    if (peer && peer.revision >= revision) return;
    this.#peers.set(nodeId, { revision, changedMs: this.#options.clock.monotonic() });
  }

  /** Another node says so; the key decides. */
  async #verifyDeath(nodeId: string): Promise<void> {
    try {
      const last = await this.#options.bus.retry(() => this.#read(nodeId));
      if (last?.record.isDead) this.#bury(nodeId);
    } catch (error) {
      // It will be found dead later.
      this.#options.log(`Whether the node ${nodeId} is dead could not be read: ${getErrorMessage(error)}`);
    }
  }

  #tell(beat: Beat): void {
    const { bus, name } = this.#options;
    if (!bus.nats.isClosed()) bus.nats.publish(`tau.beat.${name}`, JSON.stringify(beat));
  }

  /** Only a node that could write all the time may say that another did not. */
  #isSteady(): boolean {
    const self = this.#self;
    return self !== undefined && this.#options.clock.monotonic() - self.steadySinceMs >= this.#timing.deadAfterMs;
  }

  async #judge(): Promise<void> {
    for (const [nodeId, peer] of this.#peers) {
      if (!this.#isSteady()) return;
      const nowMs = this.#options.clock.monotonic();
      if (nowMs - peer.changedMs < this.#timing.deadAfterMs) continue;
      // Once: what cannot be read now is read after the next beat.
      const last = await this.#read(nodeId);
      if (!this.#isSteady()) return;
      if (last?.record.isDead) this.#bury(nodeId);
      else if (last && last.seq !== peer.revision) this.#peers.set(nodeId, { revision: last.seq, changedMs: nowMs });
      else await this.#declareDead(nodeId, last?.seq ?? 0);
    }
  }

  async #declareDead(nodeId: string, revision: number): Promise<boolean> {
    const { bus, ids } = this.#options;
    const outcome = await bus.publish({
      ...this.#place(nodeId),
      data: encode({ pid: process.pid, host: hostname(), isDead: true }),
      after: revision,
      id: ids(),
      giveUpAfterMs: this.#timing.beatMs,
    });
    if (outcome.kind === "stored") {
      this.#tell({ nodeId, revision: outcome.seq, isDead: true });
      return this.#bury(nodeId);
    }
    if (outcome.kind === "overtaken") {
      this.#peers.set(nodeId, { revision: outcome.lastSeq, changedMs: this.#options.clock.monotonic() });
    }
    return false;
  }

  #bury(nodeId: string): true {
    this.#peers.delete(nodeId);
    if (!this.#dead.has(nodeId)) {
      this.#dead.add(nodeId);
      if (nodeId !== this.#self?.nodeId) this.onDead(nodeId);
    }
    return true;
  }

  async #read(nodeId: string): Promise<{ seq: number; record: NodeRecord } | undefined> {
    const { subject } = this.#place(nodeId);
    const last = await this.#options.bus.readLast(stream, subject);
    return last && { seq: last.seq, record: JSON.parse(new TextDecoder().decode(last.data)) as NodeRecord };
  }

  #place(nodeId: string) {
    return { stream, subject: keySubject(nodeBucket, nodeId) };
  }
}

const encode = (record: NodeRecord): Uint8Array => new TextEncoder().encode(JSON.stringify(record));
