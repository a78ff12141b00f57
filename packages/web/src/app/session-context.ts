/** What the parts of a session's view share. */
import { createContext } from "preact";
import type { Shows } from "../transcript/describe-call.ts";

export interface SessionContextValue {
  /** How the results of each tool are shown. */
  readonly shows: ReadonlyMap<string, Shows>;
}

export const SessionContext = createContext<SessionContextValue>({ shows: new Map() });
