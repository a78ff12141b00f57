/**
 * The storage of one session's log: it appends at a known position, reads ranges and holds the write lease. Files and
 * memory implement it; any other implementation must pass `storeContract`.
 */
import type { LeaseOutcome } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";

/** Only `appended` is an acknowledgement. */
export type AppendOutcome =
  | { kind: "appended"; position: number }
  /** Another writer has changed or replaced the log. The store refuses all further appends. */
  | { kind: "overtaken"; reason: string }
  /** The bytes were not written. With `canRetry`, the log ends where it did and the next append may succeed. */
  | { kind: "failed"; reason: string; canRetry: boolean };

export interface LogStore {
  /** A path or a name, for messages. */
  readonly name: string;
  /** Undefined before the first write. `identity` changes when the log is replaced by another. */
  stat(): Promise<{ size: number; identity: string } | undefined>;
  /** At most `length` bytes from `position` on; fewer at the end. Rejects when the store is closed. */
  read(position: number, length: number): Promise<Buffer>;
  /** Appends whole lines at `position`, which must be the end. With `sync`, they are on the disk when it resolves. */
  append(bytes: Uint8Array, options: { position: number; sync: boolean }): Promise<AppendOutcome>;
  /** Brings what was appended without `sync` to the disk. False if the disk refused: the content is then unknown. */
  sync(): Promise<boolean>;
  /** Copies the bytes from `position` on aside, then cuts them off. Returns where the copy is; zeros are not copied. */
  cut(position: number): Promise<string>;
  /** Acquires the write lease, unless a process that is alive holds it. */
  acquire(): Promise<{ kind: "held" } | Extract<LeaseOutcome, { kind: "busy" }>>;
  /** The index is a cache and may be lost at any time. */
  readIndex(): Promise<Buffer | undefined>;
  /** Does not reject if the disk refuses. */
  writeIndex(bytes: Uint8Array): Promise<void>;
  /** Waits for pending calls and releases the lease. Does not reject if the disk refuses. */
  close(): Promise<void>;
}

export const closedError = (name: string) =>
  new HarnessError("closed", `The session ${name} is closed. Open it again to continue.`);

export const notSession = (path: string) =>
  new HarnessError("invalid_input", `${path} is not a session file (no header, no messages).`);

export const closedOutcome: AppendOutcome = { kind: "failed", reason: "the session is closed", canRetry: false };
