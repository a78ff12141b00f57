/** Writes lines behind a log, one batch at a time, and says when each is acknowledged. */
import { getErrorMessage } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import type { AppendOutcome, LogStore } from "./store.ts";

/**
 * When an entry is acknowledged. `strict`: when it is on the disk. `turn`: when the system has it, so that it survives
 * the process but not the power; `flush` at the end of each turn brings it to the disk. `none`: at once; it is written
 * soon after.
 */
export type Durability = "strict" | "turn" | "none";

export interface AppendQueueOptions {
  store: LogStore;
  durability: Durability;
  /** Where the log ends. */
  end: number;
  /** The last line has no line feed yet. */
  isLineOpen: boolean;
}

interface Waiting {
  lines: readonly Buffer[];
  /** Called with where the first line begins. */
  onWritten: (offset: number) => void;
  onFailed: (error: HarnessError) => void;
}

const ignore = () => undefined;

/** How much may wait to be written before who appends without waiting has to wait. */
const maxWaitingBytes = 8 * 1024 * 1024;

const lineFeed = Buffer.from("\n");

export class AppendQueue {
  readonly #store: LogStore;
  readonly #durability: Durability;
  /** Where the log ends in the store. */
  #written: number;
  /** The last line has no line feed yet. */
  #isLineOpen: boolean;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #work: Promise<void> | undefined;
  /** Why nothing can be written any more. */
  #refusal: HarnessError | undefined;
  /** Somebody whose entries it costs knows of the refusal. */
  #isRefusalTold = false;

  constructor({ store, durability, end, isLineOpen }: AppendQueueOptions) {
    this.#store = store;
    this.#durability = durability;
    this.#written = end;
    this.#isLineOpen = isLineOpen;
  }

  get refusal(): HarnessError | undefined {
    return this.#refusal;
  }

  /** Says why nothing can be written any more, unless it was said before: whoever did not wait may not know yet. */
  tellRefusal(): void {
    if (!this.#refusal || this.#isRefusalTold) return;
    this.#isRefusalTold = true;
    throw this.#refusal;
  }

  /** Resolves with where the first line begins, when all are acknowledged: all of them or none. */
  add(lines: readonly Buffer[]): Promise<number> {
    if (this.#refusal) {
      this.#isRefusalTold = true;
      return Promise.reject(this.#refusal);
    }
    const isFast = this.#durability === "none" && this.#waitingBytes < maxWaitingBytes;
    const offset = this.#written + (this.#isLineOpen ? 1 : 0) + this.#waitingBytes;
    for (const line of lines) this.#waitingBytes += line.length;
    const done = isFast
      ? Promise.resolve(offset)
      : new Promise<number>((onWritten, onRejected) => {
          const onFailed = (error: HarnessError) => {
            this.#isRefusalTold = true;
            onRejected(error);
          };
          this.#waiting.push({ lines, onWritten, onFailed });
        });
    // That it failed is then said to whoever comes next.
    if (isFast) this.#waiting.push({ lines, onWritten: ignore, onFailed: ignore });
    this.#work ??= this.#writeAll();
    return done;
  }

  /** Resolves when nothing waits any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Waits until everything is written, and brings it to the disk unless nobody asked for that. */
  async flush(): Promise<void> {
    await this.#work;
    if (!this.#refusal && this.#durability !== "none" && !(await this.#store.sync()))
      this.#refusal = formatRefusal(this.#store, syncFailed);
    if (!this.#refusal) return;
    this.#isRefusalTold = true;
    throw this.#refusal;
  }

  async #writeAll(): Promise<void> {
    // What is added in the same moment is written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const lines = batch.flatMap((one) => one.lines);
      let offset = this.#written + (this.#isLineOpen ? 1 : 0);
      const bytes = Buffer.concat(this.#isLineOpen ? [lineFeed, ...lines] : lines);
      const error = await this.#write(bytes);
      for (const one of batch) {
        if (error) one.onFailed(error);
        else one.onWritten(offset);
        for (const line of one.lines) offset += line.length;
      }
    }
    this.#work = undefined;
  }

  async #write(bytes: Buffer): Promise<HarnessError | undefined> {
    if (this.#refusal) return this.#refusal;
    const outcome = await this.#ask(bytes);
    this.#waitingBytes -= bytes.length - (this.#isLineOpen ? 1 : 0);
    if (outcome.kind === "appended") {
      this.#written = outcome.position;
      this.#isLineOpen = false;
      return undefined;
    }
    const error = formatRefusal(this.#store, outcome);
    const canGoOn = outcome.kind === "failed" && outcome.canRetry && this.#durability !== "none";
    // Who was told that an entry is safe, when it is not, must not go on as if nothing had happened.
    if (!canGoOn) this.#refusal = error;
    return error;
  }

  /** A store that throws must not leave anybody waiting. */
  async #ask(bytes: Buffer): Promise<AppendOutcome> {
    try {
      return await this.#store.append(bytes, { position: this.#written, sync: this.#durability === "strict" });
    } catch (error) {
      return { kind: "failed", reason: getErrorMessage(error), canRetry: false };
    }
  }
}

type Refused = Exclude<AppendOutcome, { kind: "appended" }>;

const syncFailed: Refused = {
  kind: "failed",
  reason: "the disk refused to keep what was written",
  canRetry: false,
};

function formatRefusal({ name }: LogStore, outcome: Refused): HarnessError {
  if (outcome.kind === "overtaken") {
    const text = `The session ${name} can no longer be written here: ${outcome.reason}. Open it again, or save it under another name.`;
    return new HarnessError("overtaken", text);
  }
  const advice = outcome.canRetry
    ? "Nothing that was saved before is lost. Mend that and try again."
    : "Everything that was saved before is kept; this session can only be read now. Save it under another name to go on.";
  return new HarnessError("write_failed", `The session ${name} could not be saved: ${outcome.reason}. ${advice}`);
}
