/** Which fields of an event handlers may change in place. What an isolated handler leaves in them crosses back. Pure. */
import type { ExtensionEvent, ExtensionEventName } from "../api/events.ts";
import type { CrossingEvent } from "./messages.ts";

const fields: Partial<Record<ExtensionEventName, readonly string[]>> = {
  tool_call: ["input"],
  before_provider_headers: ["headers"],
  before_provider_request: ["payload"],
  before_agent_start: ["systemPromptOptions"],
  context: ["messages"],
  context_with_system: ["messages"],
};

export const getChangeableFields = (name: ExtensionEventName): readonly string[] => fields[name] ?? [];

/** Whether the event has a signal, which aborts the call of its handler. */
export const hasSignal = (name: ExtensionEventName): boolean =>
  name === "session_before_compact" || name === "session_before_tree" || name === "mention_read";

/** Headers that say who sends a request. An isolated extension neither sees nor sets them. */
const secretHeader = /authorization|api[-_]?key|token|secret|cookie|credential|signature|password/i;

const isSecretHeader = (name: string): boolean => secretHeader.test(name);

/** An event as an isolated extension gets it: without keys, and without what is not data. */
export function toCrossingEvent(event: ExtensionEvent): CrossingEvent {
  if (event.type === "before_provider_headers" || event.type === "after_provider_response") {
    const open = Object.entries(event.headers).filter(([name]) => !isSecretHeader(name));
    return { ...event, headers: Object.fromEntries(open) };
  }
  if (hasSignal(event.type)) {
    const { signal: _signal, ...rest } = event as ExtensionEvent & { signal: AbortSignal };
    return rest as CrossingEvent;
  }
  return event as unknown as CrossingEvent;
}

/** Puts what the handler changed where it was. The objects stay the same, since others hold them. */
export function applyChanges(event: ExtensionEvent, changed: Readonly<Record<string, unknown>>): void {
  const record = event as unknown as Record<string, unknown>;
  for (const field of getChangeableFields(event.type)) {
    if (!Object.hasOwn(changed, field)) continue;
    const [before, after] = [record[field], changed[field]];
    if (event.type === "before_provider_headers") applyHeaders(event.headers, after);
    else if (Array.isArray(before) && Array.isArray(after)) before.splice(0, before.length, ...(after as unknown[]));
    else if (isPlain(before) && isPlain(after)) replaceFields(before, after);
  }
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function replaceFields(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const key of Object.keys(target)) if (!Object.hasOwn(source, key)) delete target[key];
  for (const [key, value] of Object.entries(source)) target[key] = value;
}

function applyHeaders(headers: Record<string, string | null>, changed: unknown): void {
  if (!isPlain(changed)) return;
  for (const name of Object.keys(headers))
    if (!isSecretHeader(name) && !Object.hasOwn(changed, name)) delete headers[name];
  for (const [name, value] of Object.entries(changed))
    if (!isSecretHeader(name) && (typeof value === "string" || value === null)) headers[name] = value;
}
