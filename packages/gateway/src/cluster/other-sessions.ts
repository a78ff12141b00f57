/**
 * Commands of a session that name another one. Sessions of a cluster are no files, and the other one may run anywhere, so
 * that each becomes a call for the session that it names, or is answered from the catalogue.
 */
import { type Fields, nonEmptyText } from "@tau/config/fields";
import { listFields } from "@tau/harness/host";
import { isSessionId } from "@tau/harness/session";
import type { GatewayMethod } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { mustParse } from "../must-parse.ts";
import type { Catalogue, SessionQuery } from "./catalogue.ts";

/** A method as a client calls it, without its key. */
export interface Call {
  method: GatewayMethod;
  params: Record<string, unknown>;
}

/** A method of clients, or one of `nodeCalls`, for a session. */
export interface SessionCall extends Omit<Call, "method"> {
  method: string;
  sessionId: string;
}

export type OtherSession =
  | { kind: "answer"; payload: unknown }
  /** `answer`: what the client gets instead of what the call answers with. */
  | { kind: "call"; call: SessionCall; answer?: unknown }
  | { kind: "trash" | "restore"; call: SessionCall };

const sessionId = nonEmptyText;

const methodFields = {
  "session.list_sessions": { sessionId, ...listFields },
  "session.rename_session": { sessionId, session: nonEmptyText, name: nonEmptyText },
  "session.switch_session": { sessionId, sessionPath: nonEmptyText },
  "session.delete_session": { sessionId, session: nonEmptyText },
  "session.restore_session": { sessionId, session: nonEmptyText },
} satisfies Partial<Record<GatewayMethod, Fields>>;

type OtherMethod = keyof typeof methodFields;

export const namesOther = (method: GatewayMethod): method is OtherMethod => Object.hasOwn(methodFields, method);

export async function findOther(catalogue: Catalogue, method: OtherMethod, params: Call["params"]) {
  if (method === "session.list_sessions") return await list(catalogue, mustParse(methodFields[method], params));
  return await toOther(catalogue, method, mustParse(methodFields[method], params) as Record<string, string>);
}

type ListParams = SessionQuery & { sessionId: string; all?: boolean };

/** Those of the same directory, or all. */
async function list(catalogue: Catalogue, { sessionId: own, all, ...query }: ListParams): Promise<OtherSession> {
  const cwd = all ? undefined : await catalogue.findCwd(own);
  const { sessions, cursor } = await catalogue.list({ ...query, ...(cwd !== undefined && { cwd }) });
  const payload = { sessions: sessions.map(({ status: _status, sessionId: _id, ...summary }) => summary) };
  return { kind: "answer", payload: { ...payload, ...(cursor !== undefined && { cursor }) } };
}

async function toOther(
  catalogue: Catalogue,
  method: Exclude<OtherMethod, "session.list_sessions">,
  params: Record<string, string>,
): Promise<OtherSession> {
  const isTrashed = method === "session.restore_session";
  const otherId = await resolve(catalogue, params["session"] ?? params["sessionPath"]!, isTrashed);
  const createCall = (name: GatewayMethod, more: Call["params"] = {}): SessionCall => ({
    method: name,
    params: { sessionId: otherId, ...more },
    sessionId: otherId,
  });
  switch (method) {
    case "session.rename_session":
      return { kind: "call", call: createCall("session.set_session_name", { name: params["name"] }) };
    case "session.switch_session":
      return { kind: "call", call: createCall("sessions.open"), answer: { sessionId: otherId, cancelled: false } };
    case "session.restore_session":
      return { kind: "restore", call: createCall(method, { session: otherId }) };
    case "session.delete_session":
      return { kind: "trash", call: createCall(method, { session: otherId }) };
  }
}

async function resolve(catalogue: Catalogue, reference: string, isTrashed: boolean): Promise<string> {
  const known = await catalogue.resolve(reference, { isTrashed });
  // One that was just created may not be listed yet.
  const id = known ?? (isSessionId(reference) ? reference : undefined);
  if (id !== undefined) return id;
  const words = `There is no ${isTrashed ? "deleted " : ""}session ${JSON.stringify(reference.slice(0, 128))}.`;
  throw new GatewayError("session_not_found", words);
}
