/** The part of a session's extensions that the terminal needs. */
import type { AgentToolResult } from "@tau/agent";
import type { ExtensionSurface, SessionExtensions } from "@tau/extensions";

/** The extensions that are loaded; others after a reload. */
export type LoadedExtensions = Pick<
  SessionExtensions,
  "list" | "idle" | "problems" | "registrations" | "replaced" | "runShortcut"
>;

export interface ExtensionClient {
  /** They run in another process: `loaded` says nothing of them, and what they ask is not over when the terminal is left. */
  readonly isRemote?: boolean;
  /** Undefined without any. */
  readonly loaded: LoadedExtensions | undefined;
  /** Lends the terminal to them, also to those of later reloads. Resolves when they have started, with how to end that. */
  attach(surface: ExtensionSurface): Promise<() => void>;
  /** Called when a feature is the first extension of a session. Returns how to stop. */
  onFirst?(listener: () => void | Promise<void>): () => void;
  /** Called with what a running tool has so far. Returns how to stop. */
  onToolUpdate(listener: (toolCallId: string, partial: AgentToolResult) => void): () => void;
  /** Resolves when no run is in progress. */
  waitForIdle(): Promise<void>;
}
