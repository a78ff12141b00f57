/**
 * Commands of a session that name another one. Sessions of a cluster are no files, and the other one may run anywhere, so
 * that each becomes a call for the session that it names, or is answered from the catalogue.
 */
import { type Fields, nonEmptyText } from "@tau/config/fields";
import { listFields } from "@tau/harness/host";
import { isSessionId } from "@tau/harness/session";
import type { GatewayMethod } from "@tau/protocol/gateway";
import { GatewayError, mustParse, type NamingMethod, type SessionCall, type SessionQuery } from "@tau/gateway/port";
import type { Catalogue } from "./catalogue.ts";

type Params = Record<string, unknown>;

/** How a command that names a session is done. */
export type NamedSession =
  | { kind: "answer"; payload: unknown }
  /** `answer` is sent to the client in the place of the call's own. */
  | { kind: "call"; call: SessionCall; answer?: unknown }
  | { kind: "trash" | "restore"; call: SessionCall };

const sessionId = nonEmptyText;

const methodFields = {
  "session.list_sessions": { sessionId, ...listFields },
  "session.rename_session": { sessionId, session: nonEmptyText, name: nonEmptyText },
  "session.switch_session": { sessionId, sessionPath: nonEmptyText },
  "session.delete_session": { sessionId, session: nonEmptyText },
  "session.restore_session": { sessionId, session: nonEmptyText },
} satisfies Record<NamingMethod, Fields>;

/** Throws `invalid_parameters`, and `session_not_found` where no session is known by that name. */
export async function findNamed(catalogue: Catalogue, method: NamingMethod, params: Params): Promise<NamedSession> {
  if (method === "session.list_sessions") return await list(catalogue, mustParse(methodFields[method], params));
  return await toNamed(catalogue, method, mustParse(methodFields[method], params) as Record<string, string>);
}

type ListParams = SessionQuery & { sessionId: string; all?: boolean };

/** Lists sessions of the same directory, or all. */
async function list(catalogue: Catalogue, { sessionId: own, all, ...query }: ListParams): Promise<NamedSession> {
  const cwd = all ? undefined : await catalogue.findCwd(own);
  const { sessions, cursor } = await catalogue.list({ ...query, ...(cwd !== undefined && { cwd }) });
  const payload = { sessions: sessions.map(({ status: _status, sessionId: _id, ...summary }) => summary) };
  return { kind: "answer", payload: { ...payload, ...(cursor !== undefined && { cursor }) } };
}

async function toNamed(
  catalogue: Catalogue,
  method: Exclude<NamingMethod, "session.list_sessions">,
  params: Record<string, string>,
): Promise<NamedSession> {
  const isTrashed = method === "session.restore_session";
  const namedId = await resolve(catalogue, params["session"] ?? params["sessionPath"]!, isTrashed);
  const createCall = (name: GatewayMethod, more: Params = {}): SessionCall => ({
    method: name,
    params: { sessionId: namedId, ...more },
    sessionId: namedId,
  });
  switch (method) {
    case "session.rename_session":
      return { kind: "call", call: createCall("session.set_session_name", { name: params["name"] }) };
    case "session.switch_session":
      return { kind: "call", call: createCall("sessions.open"), answer: { sessionId: namedId, cancelled: false } };
    case "session.restore_session":
      return { kind: "restore", call: createCall(method, { session: namedId }) };
    case "session.delete_session":
      return { kind: "trash", call: createCall(method, { session: namedId }) };
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
