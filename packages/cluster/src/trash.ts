/** Deleted sessions of a cluster: their leases say so, and the catalogue lists them apart. */
import { type ClusterGateway, GatewayError } from "@tau/gateway/port";
import { isStored, type Storage } from "@tau/harness/session";
import type { Catalogue } from "./catalogue.ts";
import type { SessionLeases } from "./leases.ts";
import { placeLog } from "./names.ts";

interface TrashParts {
  storage: Storage;
  leases: SessionLeases;
  catalogue: Catalogue;
  sessions: ClusterGateway["sessions"];
}

export class SessionTrash {
  readonly #parts: TrashParts;

  constructor(parts: TrashParts) {
    this.#parts = parts;
  }

  /** Deletes a session that this node runs, or that no node runs. Throws `session_not_found`, `busy` or `moved`. */
  async add(sessionId: string): Promise<{ id: string }> {
    const { storage, leases, catalogue, sessions } = this.#parts;
    if (!(await isStored(storage, sessionId))) throw notFound(sessionId);
    if (sessions.find(sessionId)?.hosted.session.hasWork) {
      throw new GatewayError("busy", `The session ${sessionId} is running. Abort it before you delete it.`);
    }
    await sessions.close(sessionId, "deleted");
    const trashed = await leases.trash(sessionId);
    if (!trashed) throw new GatewayError("moved", `The session ${sessionId} runs on another node.`);
    await catalogue.setTrashed(sessionId, true, trashed.epoch);
    return { id: sessionId };
  }

  /** Throws `session_not_found` for a session that is not in the trash. */
  async restore(sessionId: string): Promise<{ id: string; path: string }> {
    const { leases, catalogue } = this.#parts;
    const restored = await leases.restore(sessionId);
    if (!restored) throw notFound(sessionId);
    await catalogue.setTrashed(sessionId, false, restored.epoch);
    return { id: sessionId, path: `${placeLog(sessionId).stream}/${sessionId}` };
  }
}

const notFound = (sessionId: string) =>
  new GatewayError("session_not_found", `There is no session ${JSON.stringify(sessionId.slice(0, 128))}.`);
