/** Two ways to say the same: pi's lines, and JSON-RPC 2.0. From a line to what it asks, and from an answer to its line. Pure. */
import { type Approval, type ApprovalAnswer, type ApprovalChoice, approvalChoices } from "@tau/protocol";

export type Framing = "pi" | "json-rpc";

/** Whom an answer is for. */
export interface Sender {
  framing: Framing;
  /** Undefined: in pi's framing the answer has none; in JSON-RPC nobody wants one. */
  id: string | number | null | undefined;
  /** The command, or in its place the word for a line that names none. */
  command: string;
}

export type Incoming =
  | { kind: "nothing" }
  | { kind: "command"; sender: Sender; fields: Readonly<Record<string, unknown>> }
  /** What a person says to a question of ours. */
  | { kind: "reply"; approvalId: string; answer: ApprovalAnswer }
  /** A reply to something that we did not ask. */
  | { kind: "stray" }
  | { kind: "mistake"; sender: Sender; fault: Fault };

/** Why a command failed. */
export interface Fault {
  kind: "parse" | "invalid_request" | "unknown_command" | "invalid_fields" | "failed";
  message: string;
  /** What programs can tell it by. */
  code?: string;
}

const faultCodes: Readonly<Record<Fault["kind"], number>> = {
  parse: -32_700,
  invalid_request: -32_600,
  unknown_command: -32_601,
  invalid_fields: -32_602,
  failed: -32_000,
};

/** `usual` is the framing in which a line that is in neither is answered. */
export function readLine(line: string, usual: Framing): Incoming {
  if (line.trim() === "") return { kind: "nothing" };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return notACommand(usual, `This line is no JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return notACommand(usual, "A command is a JSON object on a line of its own.", "invalid_request");
  }
  const record = value as Record<string, unknown>;
  return Object.hasOwn(record, "jsonrpc") ? readJsonRpc(record) : readPi(record);
}

/** The answer to a line that is not even a command. */
export function notACommand(framing: Framing, message: string, kind: Fault["kind"] = "parse"): Incoming {
  const id = framing === "pi" ? undefined : null;
  return { kind: "mistake", sender: { framing, id, command: "parse" }, fault: { kind, message } };
}

function readPi({ id, type, ...fields }: Record<string, unknown>): Incoming {
  if (type === "extension_ui_response") {
    return typeof id === "string" ? { kind: "reply", approvalId: id, answer: piAnswer(fields) } : { kind: "stray" };
  }
  const command = typeof type === "string" ? type : "unknown";
  const isId = id === undefined || typeof id === "string" || typeof id === "number";
  const sender: Sender = { framing: "pi", id: isId ? id : undefined, command };
  if (!isId) return refuse(sender, '"id" has to be a string, or left out.');
  if (typeof type !== "string") return refuse(sender, '"type" has to name a command.');
  return { kind: "command", sender, fields };
}

const piAnswer = ({ confirmed }: Record<string, unknown>): ApprovalAnswer => ({
  decision: confirmed === true ? "allow" : "deny",
});

function readJsonRpc(record: Record<string, unknown>): Incoming {
  const { jsonrpc, id, method, params = {} } = record;
  const isId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  const isReply = method === undefined && (Object.hasOwn(record, "result") || Object.hasOwn(record, "error"));
  if (isReply) return readReply(id, record["result"]);
  // Whoever makes a mistake is told, even where the mistake is the id.
  const command = typeof method === "string" ? method : "unknown";
  const sender: Sender = { framing: "json-rpc", id: isId ? id : null, command };
  const mistaken = { ...sender, id: sender.id ?? null };
  if (jsonrpc !== "2.0") return refuse(mistaken, '"jsonrpc" has to be "2.0".');
  if (!isId) return refuse(mistaken, '"id" has to be a string or a number, or left out.');
  if (typeof method !== "string") return refuse(mistaken, '"method" has to name a command.');
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    const fault: Fault = { kind: "invalid_fields", message: '"params" has to be an object: fields go by their names.' };
    return { kind: "mistake", sender, fault };
  }
  return { kind: "command", sender, fields: params as Record<string, unknown> };
}

const refuse = (sender: Sender, message: string): Incoming => ({
  kind: "mistake",
  sender,
  fault: { kind: "invalid_request", message },
});

const questionPrefix = "approve:";

/** An answer that cannot be understood allows nothing. */
function readReply(id: unknown, result: unknown): Incoming {
  if (typeof id !== "string" || !id.startsWith(questionPrefix)) return { kind: "stray" };
  const { decision, choice, message } = (result ?? {}) as Record<string, unknown>;
  const answer: ApprovalAnswer = {
    decision: decision === "allow" ? "allow" : "deny",
    ...(approvalChoices.includes(choice as ApprovalChoice) && { choice: choice as ApprovalChoice }),
    ...(typeof message === "string" && { message }),
  };
  return { kind: "reply", approvalId: id.slice(questionPrefix.length), answer };
}

/** Undefined where nobody wants an answer. */
export function successRecord({ framing, id, command }: Sender, data: unknown): object | undefined {
  if (framing === "json-rpc") return id === undefined ? undefined : { jsonrpc: "2.0", id, result: data ?? null };
  return {
    ...(id !== undefined && { id }),
    type: "response",
    command,
    success: true,
    ...(data !== undefined && { data }),
  };
}

export function faultRecord({ framing, id, command }: Sender, { kind, message, code }: Fault): object | undefined {
  if (framing === "pi") {
    return { ...(id !== undefined && { id }), type: "response", command, success: false, error: message };
  }
  if (id === undefined) return undefined;
  const error = { code: faultCodes[kind], message, ...(code !== undefined && { data: { code } }) };
  return { jsonrpc: "2.0", id, error };
}

export const notification = (method: string, params: unknown) => ({ jsonrpc: "2.0", method, params });

/** A question, as a request that the other side answers. */
export function questionRecord(framing: Framing, approval: Approval): object {
  const { id, toolName, summary, reason } = approval;
  if (framing === "json-rpc") {
    const params = { approvalId: id, ...approval };
    return { jsonrpc: "2.0", id: `${questionPrefix}${id}`, method: "approve", params };
  }
  const message = `${summary}\n${reason}`;
  return { type: "extension_ui_request", id, method: "confirm", title: `Allow ${toolName}?`, message };
}
