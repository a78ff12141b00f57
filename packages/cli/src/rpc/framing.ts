/** The two framings of commands and responses: pi's lines, and JSON-RPC 2.0. Pure. */
import { isRecord } from "@tau/ai/internal";
import {
  type Approval,
  type ApprovalAnswer,
  type ApprovalChoice,
  approvalChoices,
  type UiAnswer,
  type UiDialog,
  type UiNote,
} from "@tau/protocol";

export type Framing = "pi" | "json-rpc";

/** How long a line may be: enough for a prompt with several images. */
export const maxLineBytes = 32 * 1024 * 1024;

/** Where a response goes. */
export interface Sender {
  framing: Framing;
  /** Undefined if the command has none. A JSON-RPC command without an id gets no response. */
  id: string | number | null | undefined;
  /** The name of the command; for a line that names none, `parse` or `unknown`. */
  command: string;
}

export type Incoming =
  | { kind: "blank" }
  | { kind: "command"; sender: Sender; fields: Readonly<Record<string, unknown>> }
  /** The answer to an approval question. */
  | { kind: "reply"; approvalId: string; answer: ApprovalAnswer }
  /** The answer to a dialog of an extension. In pi's framing approval questions are dialogs too. */
  | { kind: "ui_reply"; id: string; answer: UiAnswer }
  /** A reply that answers no question. */
  | { kind: "stray_reply" }
  | Malformed;

interface Malformed {
  kind: "malformed";
  sender: Sender;
  fault: Fault;
}

/** Why a command failed. */
export interface Fault {
  kind: "parse" | "invalid_request" | "unknown_command" | "invalid_fields" | "failed";
  message: string;
  /** The code of the error, for programs. */
  code?: string;
}

const faultCodes: Readonly<Record<Fault["kind"], number>> = {
  parse: -32_700,
  invalid_request: -32_600,
  unknown_command: -32_601,
  invalid_fields: -32_602,
  failed: -32_000,
};

/** A line that has neither framing is answered in the given one. */
export function parseLine(line: string, framing?: Framing): Incoming {
  if (line.trim() === "") return { kind: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return createMalformed(framing, `This line is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) return createMalformed(framing, "A command is a JSON object on one line.", "invalid_request");
  return Object.hasOwn(value, "jsonrpc") ? parseJsonRpc(value) : parsePi(value);
}

/** For a line that is not a command. */
export function createMalformed(framing: Framing = "pi", message: string, kind: Fault["kind"] = "parse"): Malformed {
  const id = framing === "pi" ? undefined : null;
  return { kind: "malformed", sender: { framing, id, command: "parse" }, fault: { kind, message } };
}

function parsePi({ id, type, ...fields }: Record<string, unknown>): Incoming {
  if (type === "extension_ui_response") {
    return typeof id === "string" ? { kind: "ui_reply", id, answer: toUiAnswer(fields) } : { kind: "stray_reply" };
  }
  const command = typeof type === "string" ? type : "unknown";
  const isId = id === undefined || typeof id === "string" || typeof id === "number";
  const sender: Sender = { framing: "pi", id: isId ? id : undefined, command };
  if (!isId) return refuse(sender, '"id" has to be a string, or left out.');
  if (typeof type !== "string") return refuse(sender, '"type" has to name a command.');
  return { kind: "command", sender, fields };
}

function parseJsonRpc(record: Record<string, unknown>): Incoming {
  const { jsonrpc, id, method, params = {} } = record;
  const isReply = method === undefined && (Object.hasOwn(record, "result") || Object.hasOwn(record, "error"));
  if (isReply) return parseReply(id, record["result"]);
  const isId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  const command = typeof method === "string" ? method : "unknown";
  const sender: Sender = { framing: "json-rpc", id: isId ? id : null, command };
  // An invalid request always gets a response, also without an id.
  const invalid = { ...sender, id: sender.id ?? null };
  if (jsonrpc !== "2.0") return refuse(invalid, '"jsonrpc" has to be "2.0".');
  if (!isId) return refuse(invalid, '"id" has to be a string or a number, or left out.');
  if (typeof method !== "string") return refuse(invalid, '"method" has to name a command.');
  if (!isRecord(params)) {
    return refuse(sender, '"params" has to be an object: fields are passed by name.', "invalid_fields");
  }
  return { kind: "command", sender, fields: params };
}

const refuse = (sender: Sender, message: string, kind: Fault["kind"] = "invalid_request"): Malformed => ({
  kind: "malformed",
  sender,
  fault: { kind, message },
});

const questionPrefix = "approve:";
const dialogPrefix = "ui:";

/** An answer that cannot be understood cancels. */
function toUiAnswer(fields: unknown): UiAnswer {
  const { value, confirmed, cancelled } = (fields ?? {}) as Record<string, unknown>;
  if (cancelled === true) return { cancelled };
  if (typeof value === "string") return { value };
  return typeof confirmed === "boolean" ? { confirmed } : { cancelled: true };
}

/** An answer that cannot be understood denies. */
function parseReply(id: unknown, result: unknown): Incoming {
  if (typeof id === "string" && id.startsWith(dialogPrefix))
    return { kind: "ui_reply", id: id.slice(dialogPrefix.length), answer: toUiAnswer(result) };
  if (typeof id !== "string" || !id.startsWith(questionPrefix)) return { kind: "stray_reply" };
  const { decision, choice, rule, message } = (result ?? {}) as Record<string, unknown>;
  const answer: ApprovalAnswer = {
    decision: decision === "allow" ? "allow" : "deny",
    ...(approvalChoices.includes(choice as ApprovalChoice) && { choice: choice as ApprovalChoice }),
    ...(typeof rule === "string" && { rule }),
    ...(typeof message === "string" && { message }),
  };
  return { kind: "reply", approvalId: id.slice(questionPrefix.length), answer };
}

/** Undefined if the sender wants no response. */
export function successRecord({ framing, id, command }: Sender, data: unknown): object | undefined {
  if (framing === "json-rpc") return id === undefined ? undefined : { jsonrpc: "2.0", id, result: data ?? null };
  const result = data === undefined ? {} : { data };
  return { ...(id !== undefined && { id }), type: "response", command, success: true, ...result };
}

/** Undefined if the sender wants no response. */
export function faultRecord({ framing, id, command }: Sender, { kind, message, code }: Fault): object | undefined {
  if (framing === "pi") {
    return { ...(id !== undefined && { id }), type: "response", command, success: false, error: message };
  }
  if (id === undefined) return undefined;
  const error = { code: faultCodes[kind], message, ...(code !== undefined && { data: { code } }) };
  return { jsonrpc: "2.0", id, error };
}

export const notification = (method: string, params: unknown) => ({ jsonrpc: "2.0", method, params });

/** An approval question, as a request that the client answers. */
export function questionRecord(framing: Framing, approval: Approval): object {
  const { id, toolName, summary, reason, timeoutMs: timeout } = approval;
  if (framing === "json-rpc") {
    const params = { approvalId: id, ...approval };
    return { jsonrpc: "2.0", id: `${questionPrefix}${id}`, method: "approve", params };
  }
  const message = `${summary}\n${reason}`;
  return { type: "extension_ui_request", id, method: "confirm", title: `Allow ${toolName}?`, message, timeout };
}

/** A dialog of an extension, as a request that the client answers. */
export const dialogRecord = (framing: Framing, id: string, dialog: UiDialog): object =>
  framing === "pi"
    ? { type: "extension_ui_request", id, ...dialog }
    : { jsonrpc: "2.0", id: `${dialogPrefix}${id}`, method: "ui_request", params: { id, ...dialog } };

/** Frames what an extension shows. It is not answered, and has an id in pi's framing nevertheless. */
export const noteRecord = (framing: Framing, id: string, note: UiNote): object =>
  framing === "pi" ? { type: "extension_ui_request", id, ...note } : notification("ui_request", note);
