/** Appends lines to a log in batches, one batch at a time, and resolves when the lines are acknowledged. */
import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { AppendOutcome, LogStore } from "@tau/tools/storage";
import { copyAdvice, type ReadOnly } from "./read-only.ts";

/**
 * When an entry is acknowledged. `strict`: when it is on the disk. `turn`: when the operating system has it, so that it
 * survives the process but not a power loss; `flush` brings it to the disk, and each turn of a run ends with that. `none`: at once; it is written soon after.
 */
export type Durability = "strict" | "turn" | "none";

interface AppendQueueOptions {
  store: LogStore;
  durability: Durability;
  /** Where the log ends. */
  end: number;
  /** Whether the last line lacks its line feed. */
  isLineOpen: boolean;
}

/** Without callbacks, the caller does not wait. */
interface PendingLines {
  lines: readonly Buffer[];
  resolve?: (offset: number) => void;
  reject?: (error: HarnessError) => void;
}

/** When this much is pending, `add` waits whatever the durability. */
const maxPendingBytes = 8 * 1024 * 1024;

const lineFeed = Buffer.from("\n");

export class AppendQueue {
  readonly #store: LogStore;
  readonly #durability: Durability;
  /** Where the log ends in the store. */
  #end: number;
  #isLineOpen: boolean;
  #pending: PendingLines[] = [];
  #pendingBytes = 0;
  #work: Promise<void> | undefined;
  /** Whether something was written since the last sync, and a sync is wanted. */
  #needsSync = false;
  /** Why nothing can be written any more. */
  #failure: AppendFailure | undefined;
  /** Whether a caller has seen a failure. */
  #isReported = false;

  constructor({ store, durability, end, isLineOpen }: AppendQueueOptions) {
    this.#store = store;
    this.#durability = durability;
    this.#end = end;
    this.#isLineOpen = isLineOpen;
  }

  /** Why nothing can be written any more. Its message is a part of a sentence. */
  get failure(): Extract<ReadOnly, { reason: "failed" | "overtaken" }> | undefined {
    return this.#failure && { reason: this.#failure.kind, message: this.#failure.reason };
  }

  /** Throws the permanent failure if no caller has seen it: callers that did not wait do not know of it. */
  throwUnreported(): void {
    if (this.#failure && !this.#isReported) throw this.#report(this.#failure);
  }

  #report(failure: AppendFailure): HarnessError {
    this.#isReported = true;
    return toError(this.#store, failure);
  }

  /** Resolves with the offset of the first line when all lines are acknowledged; either all are written or none. */
  add(lines: readonly Buffer[]): Promise<number> {
    if (this.#failure) return Promise.reject(this.#report(this.#failure));
    const waits = this.#durability !== "none" || this.#pendingBytes >= maxPendingBytes;
    const offset = this.#end + (this.#isLineOpen ? 1 : 0) + this.#pendingBytes;
    for (const line of lines) this.#pendingBytes += line.length;
    const done = waits
      ? new Promise<number>((resolve, reject) => this.#pending.push({ lines, resolve, reject }))
      : Promise.resolve(offset);
    if (!waits) this.#pending.push({ lines });
    this.#work ??= this.#writeAll();
    return done;
  }

  /** Resolves when nothing is pending. Never rejects. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Waits until everything is written, and brings it to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    await this.#work;
    if (!this.#failure && this.#needsSync) {
      this.#needsSync = false;
      if (!(await this.#store.sync())) this.#failure = syncFailure;
    }
    if (this.#failure) throw this.#report(this.#failure);
  }

  async #writeAll(): Promise<void> {
    // Lines that are added synchronously after the first are written with it.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const batchLines = batch.flatMap(({ lines }) => lines);
      let offset = this.#end + (this.#isLineOpen ? 1 : 0);
      const failure = await this.#write(Buffer.concat(this.#isLineOpen ? [lineFeed, ...batchLines] : batchLines));
      for (const { lines, resolve, reject } of batch) {
        if (!failure) resolve?.(offset);
        else if (reject) reject(this.#report(failure));
        for (const line of lines) offset += line.length;
      }
    }
    this.#work = undefined;
  }

  async #write(bytes: Buffer): Promise<AppendFailure | undefined> {
    if (this.#failure) return this.#failure;
    const outcome = await this.#append(bytes);
    this.#pendingBytes -= bytes.length - (this.#isLineOpen ? 1 : 0);
    if (outcome.kind === "appended") {
      this.#end = outcome.position;
      this.#isLineOpen = false;
      this.#needsSync = this.#durability === "turn";
      return undefined;
    }
    // With durability `none`, the lost entry was already acknowledged, so later entries must not be accepted.
    const canRetry = outcome.kind === "failed" && outcome.canRetry && this.#durability !== "none";
    if (!canRetry) this.#failure = outcome;
    return outcome;
  }

  /** A store that throws must not leave a caller waiting. */
  async #append(bytes: Buffer): Promise<AppendOutcome> {
    try {
      return await this.#store.append(bytes, { position: this.#end, sync: this.#durability === "strict" });
    } catch (error) {
      return { kind: "failed", reason: getErrorMessage(error), canRetry: false };
    }
  }
}

type AppendFailure = Exclude<AppendOutcome, { kind: "appended" }>;

const syncFailure: AppendFailure = { kind: "failed", reason: "the disk refused to sync", canRetry: false };

function toError({ name }: LogStore, failure: AppendFailure): HarnessError {
  if (failure.kind === "overtaken") {
    const text = `The session ${name} can no longer be written here: ${failure.reason}. ${copyAdvice}`;
    return new HarnessError("overtaken", text);
  }
  const advice = failure.canRetry
    ? "Nothing that was saved before is lost. Fix the problem and try again."
    : `Everything that was saved before is kept, but the session is read-only now. ${copyAdvice}`;
  return new HarnessError("write_failed", `The session ${name} could not be saved: ${failure.reason}. ${advice}`);
}
