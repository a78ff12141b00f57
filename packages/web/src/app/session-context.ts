/** Values that the parts of a session's view share. */
import { createContext } from "preact";
import type { Shows } from "../transcript/describe-call.ts";

/** Panels beside a session, one at a time. */
export type SessionPanel = "tree" | "model" | "stats" | "tools" | "settings" | "share";

/** Panels of the whole page that a session opens too. */
export type SharedPanel = "help" | "usage";

export interface SessionContextValue {
  /** How the results of each tool are shown. */
  readonly shows: ReadonlyMap<string, Shows>;
  /** Begins a new session before a message of the user, to say it otherwise. Undefined if this device may only read. */
  readonly fork: ((entryId: string) => void) | undefined;
}

export const SessionContext = createContext<SessionContextValue>({ shows: new Map(), fork: undefined });
