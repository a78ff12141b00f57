/** Hosting sessions for surfaces. */
export type { AfterCrash } from "../agent-session/after-crash.ts";
export type { AdmitRun } from "../agent-session/agent-session.ts";
export { LiveSessions } from "../agent-session/live-sessions.ts";
export type { CommandOptions } from "./commands/command.ts";
export { isLongCommand, parseParams } from "./commands/index.ts";
export { formatNothingToCompact } from "../compaction/nothing-to-compact.ts";
export { listFields, searchFields, toSearchOptions, usageReportFields } from "./commands/sessions.ts";
export { getStoredSessions } from "./commands/named-session.ts";
export { maxPageBytes } from "./commands/state.ts";
export { getMessageText, toModelData, toSearchData, toSessionSummary } from "./data.ts";
export {
  createHost,
  Host,
  type HostOptions,
  type HostParams,
  type HostWatcher,
  type SessionSpecificParams,
} from "./host.ts";
export { type Cursor, type EventRedactor, HostedSession, type HostEvent, type HostListener } from "./hosted-session.ts";
export type { SendEventsOptions } from "./send-events.ts";
export { RunStream, SentEvents, type StreamOptions } from "./run-stream.ts";
export { approve } from "./approve.ts";
export { runPrompt } from "./run-prompt.ts";
export { createRequestUi, findMisfit, OpenDialogs, type OpenDialogsOptions } from "@tau/extensions/internal";
export { createSessionFrameRedactor, type FrameRedactor } from "../observe/frame-redactor.ts";
export { createSessionRedactor } from "./redact-session.ts";
