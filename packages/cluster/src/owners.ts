/** Which node runs which session, as far as this node knows. */
import type { SessionLeases } from "./leases.ts";

/** How many sessions are remembered with their nodes. */
const maxRemembered = 1_000;

export class SessionOwners {
  readonly #leases: SessionLeases;
  /** The node that ran a session when the leases were last read. */
  readonly #known = new Map<string, string>();

  constructor(leases: SessionLeases) {
    this.#leases = leases;
  }

  /** Undefined if no node runs it. It may have moved since: then that node refuses the call. */
  async find(sessionId: string, ownId: string): Promise<string | undefined> {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known;
    const ownerId = await this.#leases.findOwner(sessionId);
    if (this.#known.size >= maxRemembered) this.#known.clear();
    if (ownerId !== undefined && ownerId !== ownId) this.#known.set(sessionId, ownerId);
    return ownerId;
  }

  forget(sessionId: string): void {
    this.#known.delete(sessionId);
  }

  /** Forgets what a node ran. */
  forgetNode(nodeId: string): void {
    for (const [sessionId, ownerId] of this.#known) if (ownerId === nodeId) this.#known.delete(sessionId);
  }

  clear(): void {
    this.#known.clear();
  }
}
