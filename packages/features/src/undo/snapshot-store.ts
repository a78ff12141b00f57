/** Where the states of a workspace are kept: in a directory of git's, or as copies. */
import type { Comparison } from "./file-state.ts";

export interface StoreOptions {
  /** The workspace: a real path. */
  readonly root: string;
  /** Where everything is kept. It exists. */
  readonly directory: string;
  readonly agentDir: string;
  readonly maxFileBytes: number;
}

export interface SnapshotStore {
  /** For people. */
  readonly kind: "git" | "copies";
  /** Keeps the workspace as it is now. Equal states have the same id. Throws `UndoError`. */
  keep(signal?: AbortSignal): Promise<KeptState>;
  /** Throws `UndoError` for a snapshot that is gone. */
  compare(from: string, to: string): Promise<Comparison>;
  /** Names a content as `keep` does. */
  identify(bytes: Uint8Array, kind: "file" | "link"): string;
  /** Keeps a content. */
  put(bytes: Uint8Array): Promise<string>;
  /** Reads contents, each compared with its id. Those that are missing or damaged are left out. */
  read(ids: readonly string[]): Promise<Map<string, Buffer>>;
  /** Finds which of these contents cannot be read. */
  findMissing(ids: readonly string[]): Promise<string[]>;
  /** Removes everything that none of these snapshots needs. */
  prune(snapshots: readonly string[]): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
  getBytes(): Promise<number>;
}

export interface KeptState {
  readonly id: string;
  /** Bytes that were new. */
  readonly newBytes: number;
}
