/** The parts of the Debug Adapter Protocol that are used here. What adapters send is read with care. Pure. */
import { asRecord } from "@tau/ai/internal";

/** A message of an adapter. */
export type DapMessage =
  | { type: "response"; requestSeq: number; isSuccess: boolean; message: string | undefined; body: unknown }
  | { type: "event"; event: string; body: unknown }
  | { type: "request"; seq: number; command: string; arguments: unknown };

/** Undefined for anything that is no message of the protocol. */
export function parseMessage(value: unknown): DapMessage | undefined {
  const fields = asRecord(value);
  switch (fields["type"]) {
    case "response": {
      const requestSeq = fields["request_seq"];
      if (typeof requestSeq !== "number") return undefined;
      const { error } = asRecord(fields["body"]);
      const message = formatError(error) ?? toText(fields["message"]);
      return { type: "response", requestSeq, isSuccess: fields["success"] === true, message, body: fields["body"] };
    }
    case "event": {
      const event = fields["event"];
      return typeof event === "string" ? { type: "event", event, body: fields["body"] } : undefined;
    }
    case "request": {
      const { seq, command } = fields;
      if (typeof seq !== "number" || typeof command !== "string") return undefined;
      return { type: "request", seq, command, arguments: fields["arguments"] };
    }
    default:
      return undefined;
  }
}

/** Puts the variables of an error into its format: `Unable to open {path}`. */
function formatError(error: unknown): string | undefined {
  const { format, variables } = asRecord(error);
  if (typeof format !== "string" || format === "") return undefined;
  const values = asRecord(variables);
  return format.replaceAll(/\{(\w+)\}/g, (whole, name: string) => toText(values[name]) ?? whole);
}

export interface DapThread {
  id: number;
  name: string;
}

export interface DapStackFrame {
  id: number;
  name: string;
  /** Undefined without a source. */
  path?: string;
  /** Counted from 1. */
  line?: number;
  column?: number;
}

export interface DapScope {
  name: string;
  variablesReference: number;
  isExpensive: boolean;
  hint?: string;
}

export interface DapVariable {
  name: string;
  value: string;
  type?: string;
  /** 0 if it has no members. */
  variablesReference: number;
}

/** A breakpoint as the adapter has set it. */
export interface DapSetBreakpoint {
  id?: number;
  isVerified: boolean;
  line?: number;
  message?: string;
}

export const parseThreads = (body: unknown): DapThread[] =>
  parseList(body, "threads", (fields) => {
    const id = toId(fields["id"]);
    return id === undefined ? undefined : { id, name: toText(fields["name"]) ?? "" };
  });

export const parseFrames = (body: unknown): DapStackFrame[] =>
  parseList(body, "stackFrames", (fields) => {
    const id = toId(fields["id"]);
    if (id === undefined) return undefined;
    const path = toText(asRecord(fields["source"])["path"]);
    const line = toPosition(fields["line"]);
    const column = toPosition(fields["column"]);
    return {
      id,
      name: toText(fields["name"]) ?? "",
      ...(path !== undefined && line !== undefined && { path, line, ...(column !== undefined && { column }) }),
    };
  });

export const parseScopes = (body: unknown): DapScope[] =>
  parseList(body, "scopes", (fields) => {
    const hint = toText(fields["presentationHint"]);
    return {
      name: toText(fields["name"]) ?? "",
      variablesReference: toId(fields["variablesReference"]) ?? 0,
      isExpensive: fields["expensive"] === true,
      ...(hint !== undefined && { hint }),
    };
  });

export const parseVariables = (body: unknown): DapVariable[] =>
  parseList(body, "variables", (fields) => {
    const name = toText(fields["name"]);
    if (name === undefined) return undefined;
    const type = toText(fields["type"]);
    return {
      name,
      value: toText(fields["value"]) ?? "",
      ...(type !== undefined && { type }),
      variablesReference: toId(fields["variablesReference"]) ?? 0,
    };
  });

export const parseSetBreakpoints = (body: unknown): DapSetBreakpoint[] =>
  parseList(body, "breakpoints", (fields) => parseSetBreakpoint(fields));

export function parseSetBreakpoint(value: unknown): DapSetBreakpoint {
  const fields = asRecord(value);
  const id = toId(fields["id"]);
  const line = toPosition(fields["line"]);
  const message = toText(fields["message"])?.slice(0, maxMessageLength);
  return {
    isVerified: fields["verified"] === true,
    ...(id !== undefined && { id }),
    ...(line !== undefined && { line }),
    ...(message !== undefined && { message }),
  };
}

/** Messages about breakpoints are kept as long as these. */
const maxMessageLength = 1_000;

/** More items than this are not looked at. */
const maxItems = 10_000;

function parseList<T>(body: unknown, key: string, parse: (fields: Record<string, unknown>) => T | undefined): T[] {
  const list = asRecord(body)[key];
  return Array.isArray(list) ? list.slice(0, maxItems).flatMap((item) => parse(asRecord(item)) ?? []) : [];
}

/** Numbers of threads, frames, variables and breakpoints are integers of 32 bits or a little more. */
export const toId = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

/** Lines and columns begin at 1; some adapters send 0 or less for what is nowhere. */
const toPosition = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value < 1e9 ? value : undefined;

export const toText = (value: unknown): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
};
