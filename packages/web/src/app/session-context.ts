/** What the parts of a session's view share. */
import { createContext } from "preact";
import type { Shows } from "../transcript/describe-call.ts";

/** What is shown beside a session, one at a time. */
export type SessionPanel = "tree" | "model" | "stats";

export interface SessionContextValue {
  /** How the results of each tool are shown. */
  readonly shows: ReadonlyMap<string, Shows>;
}

export const SessionContext = createContext<SessionContextValue>({ shows: new Map() });
