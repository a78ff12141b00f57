/** Programs of servers, as the session starts them. */
import type { Readable, Writable } from "node:stream";

/** A running program, as `ExtensionAPI.spawn` gives it. */
export interface LspProgram {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when nothing of it is left. Never rejects. */
  readonly exit: Promise<unknown>;
  end(graceMs?: number): Promise<void>;
}

interface LspSpawnOptions {
  cwd: string;
  /** Default: the sandbox of the model's commands. */
  sandbox?: false;
}

export type LspSpawn = (command: string, args: readonly string[], options: LspSpawnOptions) => Promise<LspProgram>;
