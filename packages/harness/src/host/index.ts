/** Hosting sessions for surfaces. */
export type { AfterCrash } from "../agent-session/after-crash.ts";
export { LiveSessions } from "../agent-session/live-sessions.ts";
export type { CommandOptions } from "./commands/command.ts";
export { isLongCommand } from "./commands/index.ts";
export { formatNothingToCompact } from "./commands/models.ts";
export { getMessageText } from "./data.ts";
export { createHost, Host, type HostOptions } from "./host.ts";
export { type Cursor, HostedSession, type HostEvent, type HostListener } from "./hosted-session.ts";
