/** Formats a session as lines that a person can read and a test can compare. */
import type { AgentMessage } from "@tau/agent";
import type { SessionEvent } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { eventLines, nameIds } from "./event-lines.ts";
import { createFormatter } from "./formatter.ts";
import { messageLines } from "./message-lines.ts";

export interface TranscriptOptions {
  /** The directory that is shown as `<cwd>`. Default: that of the session; none for events and messages. */
  cwd?: string;
  /** Other texts that differ from run to run, such as paths, and their replacements. */
  names?: Readonly<Record<string, string>>;
  /** Longer texts are cut, and the line says by how much. Default 200. */
  maxCharacters?: number;
}

/**
 * The lines are the same in every run of the same script: no ids, no times, no deltas. The events of `onSessionEvent`
 * contain everything that happened; a session or its messages contain what the model is sent. The events of `onEvent`
 * alone do not contain the messages.
 */
export function transcript(
  source: readonly SessionEvent[] | readonly AgentMessage[] | AgentSession,
  options: TranscriptOptions = {},
): string[] {
  if (isSession(source)) {
    const { sessionId, sessionManager, messages } = source;
    const names = { [sessionId]: "<session>", ...options.names };
    return transcript(messages, { cwd: sessionManager.getCwd(), ...options, names });
  }
  const { cwd = "", names = {}, maxCharacters = 200 } = options;
  const ids = isEvents(source) ? nameIds(source) : new Map<string, string>();
  const format = createFormatter({ names: new Map([...ids, [cwd, "<cwd>"], ...Object.entries(names)]), maxCharacters });
  return isEvents(source) ? eventLines(source, format) : source.flatMap((message) => messageLines(message, format));
}

const isSession = (source: object): source is AgentSession => !Array.isArray(source);

const isEvents = (source: readonly SessionEvent[] | readonly AgentMessage[]): source is readonly SessionEvent[] =>
  source[0] !== undefined && "type" in source[0];
