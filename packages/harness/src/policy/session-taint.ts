/** Whether text of strangers came into a session. It is kept in the session's log, so it survives a restart. */
import { isRecord } from "@tau/ai/internal";
import { customTypes, type SessionEntry } from "../session/entry.ts";
import type { Audit } from "./policy.ts";
import { findTaint, type Taint, type TaintContext } from "./taint.ts";

export interface SessionTaintParts extends TaintContext {
  log: {
    getEntries(): Promise<readonly SessionEntry[]>;
    appendCustomEntry(customType: string, data: unknown): Promise<unknown>;
  };
}

export class SessionTaint {
  readonly #parts: SessionTaintParts;
  #taint: Promise<Taint | undefined> | undefined;

  constructor(parts: SessionTaintParts) {
    this.#parts = parts;
  }

  /** The first time the whole log is read: it is needed only where a secret is asked for, or something comes in. */
  get(): Promise<Taint | undefined> {
    this.#taint ??= this.#parts.log.getEntries().then(findStoredTaint);
    // A log that could not be read is read again.
    this.#taint.catch(() => (this.#taint = undefined));
    return this.#taint;
  }

  /** Only the first one is kept. Resolves when it is in the log. */
  async add(taint: Taint): Promise<void> {
    if (await this.get()) return;
    this.#taint = Promise.resolve(taint);
    await this.#parts.log.appendCustomEntry(customTypes.tainted, taint);
  }

  /** An audit that also watches what calls bring in. A call counts before it runs: nothing that it says comes earlier. */
  watch(audit: Audit): Audit {
    return async (decision) => {
      await audit(decision);
      const taint = decision.outcome === "allowed" ? findTaint(decision, this.#parts) : undefined;
      if (taint) await this.add(taint);
    };
  }
}

/** Entries of other branches count too: what was read there may have been kept in a file. */
export function findStoredTaint(entries: readonly SessionEntry[]): Taint | undefined {
  for (const entry of entries) {
    if (entry.type !== "custom" || entry.customType !== customTypes.tainted) continue;
    const { source, detail } = isRecord(entry.data) ? entry.data : {};
    const isKnown = source === "outside_file" || source === "network";
    // An entry that cannot be read still says that something came in.
    return { source: isKnown ? source : "message", detail: typeof detail === "string" ? detail : "an unknown source" };
  }
  return undefined;
}
