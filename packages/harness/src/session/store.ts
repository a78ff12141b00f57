/**
 * Where one session's log is kept. The port is small on purpose: bytes behind a known position, a range of them back,
 * and the right to write. Files and memory implement it; whatever else does has to pass `storeContract`.
 */
import type { LeaseHolder } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";

/** What became of an append. Only `appended` is an acknowledgement. */
export type AppendOutcome =
  | { kind: "appended"; position: number }
  /** Somebody else wrote here, or put something else in its place. Who finds that out stops writing. */
  | { kind: "overtaken"; reason: string }
  /** The bytes are not there. With `canRetry`, the log ends where it did and the next append may succeed. */
  | { kind: "failed"; reason: string; canRetry: boolean };

export interface LogStore {
  /** For people: a path, or a name. */
  readonly name: string;
  /** Undefined when nothing has been written yet. `identity` changes when another log is put in its place. */
  stat(): Promise<{ size: number; identity: string; modifiedMs: number } | undefined>;
  /** The bytes from `position` on, at most `length`; fewer at the end. Rejects when the store is closed. */
  read(position: number, length: number): Promise<Buffer>;
  /** Writes whole lines behind `position`, which must be the end. With `sync`, they are on the disk when it resolves. */
  append(bytes: Uint8Array, options: { position: number; sync: boolean }): Promise<AppendOutcome>;
  /** Brings what was appended without `sync` to the disk. False when the disk refused: what is there is then unknown. */
  sync(): Promise<boolean>;
  /** Copies what begins at `position` aside, and then cuts it off. Says where the copy is; of mere zeros there is none. */
  cut(position: number): Promise<string>;
  /** Takes the right to write, unless somebody who is alive has it. */
  acquire(): Promise<{ kind: "held" } | { kind: "busy"; holder: LeaseHolder }>;
  /** What may be lost at any time: the index. */
  readIndex(): Promise<Buffer | undefined>;
  /** Failing to write it is no failure. */
  writeIndex(bytes: Uint8Array): Promise<void>;
  /**
   * Waits for what is under way, gives back the right to write, and lets go of the log. A disk that refuses is no reason
   * to reject.
   */
  close(): Promise<void>;
}

/** What becomes of who asks for anything after `close`. */
export const closedError = (name: string) =>
  new HarnessError("invalid_input", `The session ${name} is closed. Open it again to go on.`);
