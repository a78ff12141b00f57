/** The part of a surface that the extensions of a session use, and what the host does for them. */
import type { SessionWriter } from "../api/session-writer.ts";
import type { ChildOptions, ChildSession } from "../api/child.ts";
import type { ExtensionMode, ReplacedSessionContext } from "../api/context.ts";
import type { BuiltIns } from "../load/conflicts.ts";
import type { ExtensionUi } from "../api/ui.ts";

export interface ExtensionSurface {
  readonly mode: ExtensionMode;
  readonly ui: ExtensionUi;
  /** The commands and keys of the surface itself. Default: none. */
  readonly builtIns?: BuiltIns;
  /**
   * Shows another session of the same host instead, and closes the one that was shown. Resolves when the extensions of the
   * other one have started. Absent: it shows one only.
   */
  show?(sessionId: string): Promise<void>;
  /** Adds themes that extensions name: files or directories. Absent: it has no themes. */
  addThemes?(paths: readonly string[]): Promise<void>;
  /** Removes what extensions have put on it, before they are reloaded. */
  reset?(): void;
  /** Ends the program when it is idle. */
  shutdown?(): void;
}

/** How a session is left for another one. `sessionId` is that of the new one. */
export type Replacement = { cancelled: true } | { cancelled: false; sessionId: string };

/** Does for extensions what only the host of a session can. */
export interface ExtensionHost {
  newSession(options: {
    parentSession?: string;
    setup?: (sessionManager: SessionWriter) => Promise<void>;
  }): Promise<Replacement>;
  fork(entryId: string, position: "before" | "at"): Promise<Replacement>;
  switchSession(path: string): Promise<Replacement>;
  /** Opens a child of the session and hosts it too. */
  openChild(options: ChildOptions): Promise<ChildSession>;
  /** A context of another session of this host; undefined if it has no extensions. */
  createContext(sessionId: string): ReplacedSessionContext | undefined;
}
