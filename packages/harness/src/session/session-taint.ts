/** Whether text of strangers came into a session. It is kept in the session's log, so it survives a restart. */
import { isRecord } from "@tau/ai/internal";
import { customTypes, type SessionEntry } from "./entry.ts";
import type { Audit } from "@tau/policy";
import { findTaint, type Taint, type TaintContext } from "@tau/policy/internal";

export interface SessionTaintParts extends TaintContext {
  log: {
    getEntries(): Promise<readonly SessionEntry[]>;
    appendCustomEntry(customType: string, data: unknown): Promise<unknown>;
  };
  /** The taint of the session that started this one, while that is open: each learns what the other one has read. */
  parent?: SessionTaint | undefined;
}

/**
 * Taint of one session of a family of parents and children applies to all that are open: a parent tells its children what to
 * do, and they answer. Each keeps it in its own log, so that it applies when the session is opened alone.
 */
export class SessionTaint {
  readonly #parts: SessionTaintParts;
  readonly #children = new Set<SessionTaint>();
  #taint: Promise<Taint | undefined> | undefined;
  /** Settles when the taint is in the log. Undefined while there is none, and after it could not be written. */
  #stored: Promise<void> | undefined;

  constructor(parts: SessionTaintParts) {
    this.#parts = parts;
    if (parts.parent) parts.parent.#children.add(this);
  }

  /** The session is closed: it reads nothing any more, and learns nothing. */
  close(): void {
    const { parent } = this.#parts;
    if (parent) parent.#children.delete(this);
  }

  /** Passes on between parent and child what each has read before. Must be called before the child is given anything. */
  async join(): Promise<void> {
    const { parent } = this.#parts;
    if (!parent) return;
    const taint = (await parent.get()) ?? (await this.get());
    if (taint) await Promise.all([parent.add(taint), this.add(taint)]);
  }

  /** The first time the whole log is read: it is needed only where a secret is asked for, or something comes in. */
  get(): Promise<Taint | undefined> {
    this.#taint ??= this.#read();
    // A log that could not be read is read again.
    this.#taint.catch(() => (this.#taint = undefined));
    return this.#taint;
  }

  /** Only the first one is kept. Resolves when it is in the logs of all; rejects when one could not be written. */
  async add(taint: Taint): Promise<void> {
    const first = (await this.get()) ?? taint;
    // Its family knows already, or is being notified.
    if (this.#stored) return await this.#stored;
    this.#taint = Promise.resolve(first);
    this.#stored = this.#store(first);
    this.#stored.catch(() => (this.#stored = undefined));
    await this.#stored;
    const { parent } = this.#parts;
    await Promise.all([...(parent ? [parent] : []), ...this.#children].map((relative) => relative.add(first)));
  }

  async #read(): Promise<Taint | undefined> {
    const taint = findStoredTaint(await this.#parts.log.getEntries());
    if (taint) this.#stored = Promise.resolve();
    return taint;
  }

  async #store(taint: Taint): Promise<void> {
    await this.#parts.log.appendCustomEntry(customTypes.tainted, taint);
  }

  /** An audit that also watches what calls bring in. A call applies before it runs: nothing that it says comes earlier. */
  watch(audit: Audit): Audit {
    return async (decision) => {
      await audit(decision);
      const taint = decision.outcome === "allowed" ? findTaint(decision, this.#parts) : undefined;
      if (taint) await this.add(taint);
    };
  }
}

/** Entries of other branches are included: what was read there may have been kept in a file. */
function findStoredTaint(entries: readonly SessionEntry[]): Taint | undefined {
  for (const entry of entries) {
    if (entry.type !== "custom" || entry.customType !== customTypes.tainted) continue;
    const { source, detail } = isRecord(entry.data) ? entry.data : {};
    const isKnown = source === "outside_file" || source === "network" || source === "tool";
    // An entry that cannot be read still says that something came in.
    return { source: isKnown ? source : "message", detail: typeof detail === "string" ? detail : "an unknown source" };
  }
  return undefined;
}
