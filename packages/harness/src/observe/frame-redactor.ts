/**
 * Removes tau's own keys from what a program reads of a session: a model or a file may quote one. Text that arrives in
 * pieces is held back where it ends with what may be the beginning of a key.
 */
import { isRecord, stringifyJson } from "@tau/ai/internal";
import { createUsedKeys, removeForms, type UsedKeys } from "@tau/config/internal";
import type { AgentSession } from "../agent-session/agent-session.ts";

export interface FrameRedactor {
  /**
   * The events to write in place of one: none while its text is held back, and several where the rest of an earlier text
   * goes first. Positions of later pieces follow the text as it is written. Never changes the event itself.
   */
  redactEvent<Event extends object>(event: Event): readonly Event[];
  /** A line of JSON without keys. */
  redactLine(line: string): string;
  /** A value that is JSON, without keys. The same one where it has none. */
  redact<T>(value: T): T;
}

/** Knows the keys that the session uses at the moment of each call. */
export const createSessionFrameRedactor = ({ authStorage, modelRegistry, model }: AgentSession): FrameRedactor =>
  createFrameRedactor(createUsedKeys({ auth: authStorage, registry: modelRegistry, provider: model?.provider }));

/** A piece of a text, and how to write another piece in its place. */
interface Piece {
  /** The text that it belongs to. */
  stream: string;
  /** The part that the text belongs to: the message, or the call of a tool. */
  owner: string;
  text: string;
  /** Where it begins in the text, if the event says so. */
  index?: number | undefined;
  replace: (text: string, index: number) => object;
}

interface HeldText {
  owner: string;
  /** How much was written. */
  length: number;
  rest: string;
  replace: Piece["replace"];
}

export function createFrameRedactor(keys: Pick<UsedKeys, "listForms">): FrameRedactor {
  const texts = new Map<string, HeldText>();
  const write = (held: HeldText, text: string): object => {
    const event = held.replace(text, held.length);
    held.length += text.length;
    return event;
  };
  const flush = (owner: string, except?: string): object[] => {
    const events: object[] = [];
    for (const [stream, held] of texts) {
      if (held.owner !== owner || stream === except || held.rest === "") continue;
      const { rest } = held;
      held.rest = "";
      events.push(write(held, rest));
    }
    return events;
  };
  const takePiece = (event: object, { stream, owner, text, index, replace }: Piece): object[] => {
    const held = texts.get(stream) ?? { owner, length: 0, rest: "", replace };
    texts.set(stream, held);
    held.replace = replace;
    const events = owner === messageOwner ? flush(owner, stream) : [];
    const forms = keys.listForms();
    const cleaned = removeForms(held.rest + text, forms);
    const end = cleaned.length - countUnfinished(cleaned, forms);
    // Most pieces are written as they are.
    const isSame = cleaned === text && end === text.length && (index ?? held.length) === held.length;
    held.rest = cleaned.slice(end);
    if (isSame) {
      held.length += text.length;
      events.push(event);
    } else if (end > 0 || text === "") events.push(write(held, cleaned.slice(0, end)));
    return events;
  };
  const takeEnd = (event: object): object[] => {
    const owner = getEnded(event);
    if (owner === undefined) return [event];
    const rest = flush(owner);
    if (isOver(event)) for (const [stream, held] of texts) if (held.owner === owner) texts.delete(stream);
    return [...rest, event];
  };
  const redactLine = (line: string) => removeForms(line, keys.listForms());
  return {
    redactEvent<Event extends object>(event: Event) {
      const piece = toPiece(event);
      return (piece ? takePiece(event, piece) : takeEnd(event)) as Event[];
    },
    redactLine,
    redact<T>(value: T) {
      const line = stringifyJson(value);
      const redacted = redactLine(line);
      return redacted === line ? value : (JSON.parse(redacted) as T);
    },
  };
}

/** How many characters at the end of a text may be the beginning of one of the forms. */
export function countUnfinished(text: string, forms: readonly string[]): number {
  let count = 0;
  for (const form of forms) {
    const start = text.indexOf(form.charAt(0), Math.max(0, text.length - form.length + 1));
    if (start >= 0) count = Math.max(count, countPrefix(text, start, form));
  }
  return count;
}

/**
 * How many characters at the end of a text are the beginning of a form, by the algorithm of Knuth, Morris and Pratt: each
 * character is compared a constant number of times on average, also where the form repeats itself.
 */
function countPrefix(text: string, start: number, form: string): number {
  const borders = getBorders(form);
  let count = 0;
  for (let index = start; index < text.length; index++) {
    while (count > 0 && (count === form.length || form[count] !== text[index])) count = borders[count - 1]!;
    if (form[count] === text[index]) count++;
  }
  return count === form.length ? borders[count - 1]! : count;
}

const bordersByForm = new Map<string, Uint32Array>();
const maxForms = 1_000;

/** For each beginning of a form: the length of the longest shorter one that it also ends with. */
function getBorders(form: string): Uint32Array {
  const known = bordersByForm.get(form);
  if (known) return known;
  const borders = new Uint32Array(form.length);
  for (let index = 1, count = 0; index < form.length; index++) {
    while (count > 0 && form[count] !== form[index]) count = borders[count - 1]!;
    if (form[count] === form[index]) count++;
    borders[index] = count;
  }
  if (bordersByForm.size >= maxForms) bordersByForm.clear();
  bordersByForm.set(form, borders);
  return borders;
}

/** The owner of the text of a message. Messages arrive one at a time. */
const messageOwner = "message";

function toPiece(event: object): Piece | undefined {
  if (!("type" in event)) return undefined;
  const fields = event as Record<string, unknown>;
  const { type, delta, toolCallId } = fields;
  if ((type === "text_delta" || type === "thinking_delta" || type === "toolcall_delta") && typeof delta === "string") {
    const replace: Piece["replace"] = (text, index) => ({
      ...event,
      delta: text,
      ...("index" in event && { index }),
    });
    const index = typeof fields["index"] === "number" ? fields["index"] : undefined;
    return { stream: `${type} ${String(toolCallId)}`, owner: messageOwner, text: delta, index, replace };
  }
  const inner = fields["assistantMessageEvent"];
  if (type === "message_update" && isRecord(inner) && typeof inner["delta"] === "string") {
    const replace: Piece["replace"] = (text) => ({ ...event, assistantMessageEvent: { ...inner, delta: text } });
    const stream = `${String(inner["type"])} ${String(inner["contentIndex"])}`;
    return { stream, owner: messageOwner, text: inner["delta"], replace };
  }
  const { content, updateType } = fields;
  const isOutput = updateType === "stdout" || updateType === "stderr";
  if (type === "tool_execution_update" && isOutput && typeof content === "string") {
    const owner = `call ${String(toolCallId)}`;
    return { stream: `${owner} ${updateType}`, owner, text: content, replace: (text) => ({ ...event, content: text }) };
  }
  return undefined;
}

/** The owner of texts that have no more pieces after this event, or not before the next one of another kind. */
function getEnded(event: object): string | undefined {
  const { type, toolCallId } = event as Record<string, unknown>;
  if (type === "tool_execution_end") return `call ${String(toolCallId)}`;
  return type === "message_update" || isOver(event) ? messageOwner : undefined;
}

const isOver = (event: object): boolean =>
  /^(?:message_start|message_end|tool_execution_end|agent_end|error)$/.test(
    String((event as Record<string, unknown>)["type"]),
  );
