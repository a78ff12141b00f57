/** The kept states of a workspace, and the histories of its sessions. One process works with them at a time. */
import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { holdLease } from "@tau/tools/durable";
import { tolerate } from "@tau/tools/platform";
import { type ApplyPorts, recover } from "./apply-changes.ts";
import { CopyStore } from "./copy-store.ts";
import { UndoError } from "./failure.ts";
import { findRepository } from "./find-repository.ts";
import { GitStore } from "./git-store.ts";
import { type Effect, listSnapshots } from "./history.ts";
import { maxAgeMs, maxProjectBytes } from "./keeping-rules.ts";
import { hash, readJson, removeOwn, writeJson } from "./own-files.ts";
import { getProjectDirectory } from "./project-directory.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

interface ProjectOptions {
  cwd: string;
  agentDir: string;
  maxFileBytes: number;
  /** Limits all that is kept. Default: `maxProjectBytes`. */
  maxBytes?: number;
  clock?: Clock;
}

export interface SessionHistory {
  readonly sessionId: string;
  readonly effects: readonly Effect[];
  /** The last change of the workspace that was noted here. */
  readonly lastChange?: string;
}

const maxWaitMs = 30_000;
const sweepAfterMs = 24 * 60 * 60_000;
/** The part of the limit that may be added before it is looked at again, and that is made free then. */
const sweptPart = 1 / 16;

export class Project {
  readonly root: string;
  readonly directory: string;
  readonly store: SnapshotStore;
  readonly maxFileBytes: number;
  readonly #maxBytes: number;
  readonly #clock: Clock;

  constructor(
    parts: Pick<Project, "root" | "directory" | "store" | "maxFileBytes"> & { maxBytes: number; clock: Clock },
  ) {
    this.root = parts.root;
    this.directory = parts.directory;
    this.store = parts.store;
    this.maxFileBytes = parts.maxFileBytes;
    this.#maxBytes = parts.maxBytes;
    this.#clock = parts.clock;
  }

  get ports(): ApplyPorts {
    const { root, store, directory, maxFileBytes } = this;
    return { root, store, maxFileBytes, journalPath: join(directory, "journal.json") };
  }

  /** Calls `work` while no other process keeps or writes files here, and after a half-done change was brought back. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const options = { clock: this.#clock, ids: systemIds, maxWaitMs };
    return await holdLease(join(this.directory, "project"), options, async () => {
      const left = await recover(this.ports, async ({ id }) =>
        (await this.listHistories()).some(({ lastChange }) => lastChange === id),
      );
      if (left.length > 0)
        throw new UndoError(`An undo was cut off, and these files could not be brought back: ${left.join(", ")}.`);
      return await work();
    });
  }

  async readHistory(sessionId: string): Promise<SessionHistory> {
    return parseHistory(await readJson(this.#toPath(sessionId))) ?? { sessionId, effects: [] };
  }

  async writeHistory(history: SessionHistory): Promise<void> {
    await writeJson(this.#toPath(history.sessionId), history);
  }

  async listHistories(): Promise<SessionHistory[]> {
    const names = (await tolerate(readdir(join(this.directory, "sessions")), "ENOENT")) ?? [];
    const files = names.filter((name) => name.endsWith(".json"));
    const values = await Promise.all(files.map((name) => readJson(join(this.directory, "sessions", name))));
    return values.map(parseHistory).filter((history) => history !== undefined);
  }

  /** Held while a run of the session changes files. */
  getRunPath(sessionId: string): string {
    return `${this.#toPath(sessionId)}.run`;
  }

  /** Removes what is too old or too much, once a day and after much was added. `newBytes` were added just now. */
  async sweep(newBytes: number, keeps: readonly string[]): Promise<void> {
    const path = join(this.directory, "sweep.json");
    const last = await readJson(path);
    const [at, added] = isRecord(last) ? [Number(last["at"]), Number(last["added"])] : [this.#clock.now(), 0];
    const now = this.#clock.now();
    const isDue = now - at >= sweepAfterMs || added + newBytes >= this.#maxBytes * sweptPart;
    if (!isDue) {
      if (newBytes > 0 || !isRecord(last)) await writeJson(path, { at, added: added + newBytes });
      return;
    }
    await this.#forget(({ at: effectAt }) => now - effectAt >= maxAgeMs);
    await this.#prune(keeps);
    await this.#makeRoom(keeps);
    await writeJson(path, { at: now, added: 0 });
  }

  /** Half of the effects at a time, the oldest first. The last one is that of the run in progress. */
  async #makeRoom(keeps: readonly string[]): Promise<void> {
    while ((await this.store.getBytes()) > this.#maxBytes * (1 - sweptPart)) {
      const times = (await this.listHistories())
        .flatMap(({ effects }) => effects.map((effect) => effect.at))
        .toSorted((a, b) => a - b);
      const older = times.slice(0, -1);
      const limit = older[Math.floor(older.length / 2)];
      if (limit === undefined) {
        await this.#forget(() => true);
        await this.store.clear();
        const mb = Math.round(this.#maxBytes / 1024 / 1024);
        throw new UndoError(`the files that have to be kept take more than ${mb} MB`);
      }
      await this.#forget((effect) => effect.at <= limit);
      await this.#prune(keeps);
    }
  }

  async #forget(isOver: (effect: Effect) => boolean): Promise<void> {
    for (const history of await this.listHistories()) {
      const effects = history.effects.filter((effect) => !isOver(effect));
      if (effects.length === history.effects.length) continue;
      if (effects.length === 0) await removeOwn(this.#toPath(history.sessionId));
      else await this.writeHistory({ ...history, effects });
    }
  }

  async #prune(keeps: readonly string[]): Promise<void> {
    const histories = await this.listHistories();
    await this.store.prune([...keeps, ...histories.flatMap(({ effects }) => listSnapshots(effects))]);
  }

  #toPath(sessionId: string): string {
    const name = /^[\w-]{1,100}$/.test(sessionId) ? sessionId : hash(sessionId);
    return join(this.directory, "sessions", `${name}.json`);
  }
}

export async function openProject({
  cwd,
  agentDir,
  maxFileBytes,
  maxBytes = maxProjectBytes,
  clock = systemClock,
}: ProjectOptions): Promise<Project> {
  const root = await realpath(cwd);
  const directory = getProjectDirectory(agentDir, cwd);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const repository = await findRepository(root);
  const options = { root, directory: await realpath(directory), agentDir: await realpath(agentDir), maxFileBytes };
  const store = repository ? new GitStore(options, repository) : new CopyStore(options);
  return new Project({ root, directory, store, maxFileBytes, maxBytes, clock });
}

const parseHistory = (value: unknown): SessionHistory | undefined =>
  isRecord(value) && typeof value["sessionId"] === "string" && Array.isArray(value["effects"])
    ? (value as unknown as SessionHistory)
    : undefined;
