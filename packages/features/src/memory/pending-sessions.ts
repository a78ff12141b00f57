/** Sessions of which nothing was remembered yet. Each is a small file, held by the process that has the session open. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { asRecord, tryParseJson } from "@tau/ai/internal";
import { makeDirectory, orUndefined, readWhole, writeWhole } from "@tau/tools/durable";
import { acquireLease, type Lease, nodeFileSystem } from "@tau/tools/platform";

interface PendingSession {
  readonly id: string;
  /** The log. */
  readonly file: string;
  /** The entry up to which it was looked at; null for none. */
  readonly after: string | null;
}

const maxRecordBytes = 10_000;

export class PendingSessions {
  readonly #directory: string;

  constructor(factsDirectory: string) {
    this.#directory = join(factsDirectory, "pending");
  }

  /** Adds a session of this process. Others leave it alone until the lease is released, or the process has ended. */
  async add(session: PendingSession): Promise<Lease | undefined> {
    await makeDirectory(nodeFileSystem, this.#directory);
    const outcome = await acquireLease(this.#getPath(session.id, "lease"));
    if (outcome.kind === "busy") return undefined;
    const path = this.#getPath(session.id, "json");
    // An earlier process may not have looked at the beginning of the session.
    if (!(await this.#read(session.id)))
      await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(`${JSON.stringify(session)}\n`), ids: systemIds });
    return outcome.lease;
  }

  async remove(id: string): Promise<void> {
    await orUndefined(nodeFileSystem.unlink(this.#getPath(id, "json")));
  }

  /** Lets other processes look at the session. */
  async release(id: string, lease: Lease): Promise<void> {
    if (await lease.isHeld()) await orUndefined(nodeFileSystem.unlink(this.#getPath(id, "lease")));
  }

  /** Calls `work` with each session that no running process has open, and removes those that it has finished. */
  async visit(work: (session: PendingSession) => Promise<"done" | "later">): Promise<void> {
    const names = (await orUndefined(readdir(this.#directory))) ?? [];
    for (const name of names.filter((each) => each.endsWith(".json"))) {
      const id = name.slice(0, -".json".length);
      const outcome = await acquireLease(this.#getPath(id, "lease"));
      if (outcome.kind === "busy") continue;
      try {
        const session = await this.#read(id);
        if (session && (await work(session)) === "later") continue;
        await this.remove(id);
      } finally {
        await this.release(id, outcome.lease);
      }
    }
  }

  async #read(id: string): Promise<PendingSession | undefined> {
    const bytes = await orUndefined(readWhole(nodeFileSystem, this.#getPath(id, "json"), maxRecordBytes));
    const { file, after } = asRecord(bytes && tryParseJson(bytes.toString("utf8")));
    return typeof file === "string" ? { id, file, after: typeof after === "string" ? after : null } : undefined;
  }

  #getPath(id: string, ending: string): string {
    return join(this.#directory, `${id.replaceAll(/[^\w-]/g, "")}.${ending}`);
  }
}
