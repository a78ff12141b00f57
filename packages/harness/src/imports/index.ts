/** Importing the sessions of other programs. */
export type { ConversionNote, ForeignSession, ForeignTool } from "./conversion.ts";
export { foreignTools } from "./conversion.ts";
export { findForeignSessions, type ForeignRoots, type ForeignSessions, type SkippedPath } from "./find-sessions.ts";
export { separateKnown } from "./import-record.ts";
export {
  type ImportedForeignSession,
  importForeignSessions,
  type ImportOutcome,
  type ImportSessionsOptions,
} from "./import-sessions.ts";
