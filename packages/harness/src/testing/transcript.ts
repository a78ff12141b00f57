/** What was said and done, as lines that a person can read and a test can keep. */
import type { AgentMessage } from "@tau/agent";
import type { SessionEvent } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { eventLines, idNames } from "./event-lines.ts";
import { messageLines } from "./message-lines.ts";
import { createShow } from "./show.ts";

export interface TranscriptOptions {
  /** The directory that is shown as `<cwd>`. Default: that of a session; that of events and messages is not known. */
  cwd?: string;
  /** Other texts that differ from run to run, such as paths, and what to show for each. */
  names?: Readonly<Record<string, string>>;
  /** Longer texts are cut, and the line says by how much. Default 200. */
  maxCharacters?: number;
}

/**
 * Readable lines that are the same in every run of the same script: no ids, no times, no pieces. From the events of
 * `onSessionEvent` it has everything that happened; from a session or from messages it has what the model would be sent.
 * (The events of `onEvent` alone do not say what was said.)
 */
export function transcript(
  source: readonly SessionEvent[] | readonly AgentMessage[] | AgentSession,
  options: TranscriptOptions = {},
): string[] {
  if (isSession(source)) {
    const { sessionId, sessionManager } = source;
    const names = new Map([[sessionId, "<session>"]]);
    return linesOfMessages(source.messages, { cwd: sessionManager.getCwd(), ...options }, names);
  }
  if (!isEvents(source)) return linesOfMessages(source, options, new Map());
  return eventLines(source, showFor(options, idNames(source)));
}

const linesOfMessages = (
  messages: readonly AgentMessage[],
  options: TranscriptOptions,
  names: ReadonlyMap<string, string>,
) => {
  const show = showFor(options, names);
  return messages.flatMap((message) => messageLines(message, show));
};

function showFor({ cwd = "", names = {}, maxCharacters = 200 }: TranscriptOptions, ids: ReadonlyMap<string, string>) {
  return createShow({ names: new Map([...ids, [cwd, "<cwd>"], ...Object.entries(names)]), maxCharacters });
}

const isSession = (source: object): source is AgentSession => !Array.isArray(source);

const isEvents = (source: readonly SessionEvent[] | readonly AgentMessage[]): source is readonly SessionEvent[] =>
  source[0] !== undefined && "type" in source[0];
