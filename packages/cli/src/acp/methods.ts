/** The methods of the protocol that a client calls: what each takes, and what it does. */
import {
  anyJson,
  type Fields,
  type FieldValues,
  jsonObject,
  list,
  nonEmptyText,
  optional,
  parseFields,
  text,
  wholeNumber,
} from "@tau/config/fields";
import type { Io } from "../commands/command.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { version } from "../start/version.ts";
import { authenticate, listAuthMethods } from "./auth.ts";
import type { Connection } from "../json-rpc/connection.ts";
import { JsonRpcError, type Params } from "@tau/protocol/json-rpc";
import { parseMcpServers } from "./mcp-servers.ts";
import type { ClientCapabilities, InitializeResponse, RequestId } from "./schema.generated.ts";
import { EditorSessions, type OpenRequest } from "./sessions.ts";

const protocolVersion = 1;

/** The editor, and what it has opened. */
export interface Client {
  readonly io: Io;
  readonly connection: Connection;
  readonly sessions: EditorSessions;
  /** Undefined before `initialize`. */
  capabilities: ClientCapabilities | undefined;
}

export function createClient(options: SessionOptions, io: Io, connection: Connection): Client {
  const getCapabilities = () => client.capabilities ?? {};
  const sessions = new EditorSessions({ options, io, connection, getCapabilities });
  const client: Client = { io, connection, sessions, capabilities: undefined };
  return client;
}

interface Call {
  client: Client;
  id: RequestId;
  /** Aborts when the client takes the request back, or disconnects. */
  signal: AbortSignal;
}

interface Method {
  fields: Fields;
  /** The next request about the same session does not wait for it. */
  isLong?: boolean;
  run(call: Call, params: never): Promise<Answer>;
}

/** `after` is called when the response is written. */
interface Answer {
  result: object;
  after?: () => void;
}

const method = <F extends Fields>(
  fields: F,
  run: (call: Call, params: FieldValues<F>) => Promise<Answer>,
  options: Pick<Method, "isLong"> = {},
): Method => ({ fields, run, ...options });

const done: Answer = { result: {} };
const sessionId = nonEmptyText;
const openFields = {
  cwd: nonEmptyText,
  additionalDirectories: optional(list(nonEmptyText)),
  mcpServers: optional(list(anyJson)),
};

const toOpenRequest = ({
  cwd,
  additionalDirectories = [],
  mcpServers = [],
}: FieldValues<typeof openFields>): OpenRequest => ({
  cwd,
  additionalDirectories,
  mcpServers: parseMcpServers(mcpServers),
});

const methods: Readonly<Record<string, Method>> = {
  initialize: method(
    { protocolVersion: wholeNumber({ min: 0, unit: "versions" }), clientCapabilities: optional(jsonObject) },
    async ({ client }, { clientCapabilities = {} }) => {
      const capabilities = clientCapabilities as ClientCapabilities;
      client.capabilities = capabilities;
      return { result: await describeAgent(client.io, capabilities) };
    },
  ),
  authenticate: method(
    { methodId: nonEmptyText },
    async ({ client, id: requestId, signal }, { methodId }) => {
      const { io, connection, capabilities = {} } = client;
      await authenticate(methodId, { io, connection, client: capabilities, requestId, signal });
      return done;
    },
    { isLong: true },
  ),
  "session/new": method(openFields, async ({ client: { sessions } }, params) => {
    const session = await sessions.create(toOpenRequest(params));
    const state = await session.getState();
    return { result: { sessionId: session.id, ...state }, after: () => session.begin() };
  }),
  "session/load": method(
    { sessionId, ...openFields },
    async ({ client: { sessions } }, { sessionId: id, ...params }) => {
      const session = await sessions.openStored(id, toOpenRequest(params));
      await session.replay();
      return { result: await session.getState(), after: () => session.begin() };
    },
  ),
  "session/resume": method(
    { sessionId, ...openFields },
    async ({ client: { sessions } }, { sessionId: id, ...params }) => {
      const session = await sessions.openStored(id, toOpenRequest(params));
      return { result: await session.getState(), after: () => session.begin() };
    },
  ),
  "session/list": method(
    { cwd: optional(nonEmptyText), cursor: optional(nonEmptyText) },
    async ({ client: { sessions } }, params) => ({
      result: await sessions.list(params.cwd, params.cursor),
    }),
  ),
  "session/close": method({ sessionId }, async ({ client: { sessions } }, params) => {
    await sessions.close(params.sessionId);
    return done;
  }),
  "session/delete": method({ sessionId }, async ({ client: { sessions } }, params) => {
    await sessions.delete(params.sessionId);
    return done;
  }),
  "session/set_mode": method({ sessionId, modeId: nonEmptyText }, async ({ client: { sessions } }, params) => {
    await sessions.get(params.sessionId).setMode(params.modeId);
    return done;
  }),
  "session/set_config_option": method(
    { sessionId, configId: nonEmptyText, type: optional(text), value: anyJson },
    async ({ client: { sessions } }, { sessionId: id, configId, value }) => {
      if (typeof value !== "string") throw new JsonRpcError("invalid_params", '"value" has to be a string.');
      return { result: { configOptions: await sessions.get(id).setOption(configId, value) } };
    },
  ),
  "session/prompt": method(
    { sessionId, prompt: list(anyJson) },
    async ({ client: { sessions }, signal }, { sessionId: id, prompt }) => {
      const session = sessions.get(id);
      if (signal.aborted) return { result: { stopReason: "cancelled" } };
      const cancel = () => void session.cancel();
      signal.addEventListener("abort", cancel);
      try {
        return { result: await session.prompt(prompt) };
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    { isLong: true },
  ),
};

/** Throws `unknown_method`, `invalid_request` before `initialize`, or `invalid_params` for the first field that is wrong. */
export function findMethod(client: Client, name: string, params: Params): FoundMethod {
  const found = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!found) throw new JsonRpcError("unknown_method", `There is no method ${JSON.stringify(name.slice(0, 80))}.`);
  if (!client.capabilities && name !== "initialize")
    throw new JsonRpcError("invalid_request", `Send initialize before ${name}.`);
  const parsed = parseFields(found.fields, params);
  if (parsed.kind === "wrong") throw new JsonRpcError("invalid_params", parsed.message);
  return { isLong: found.isLong === true, run: (call) => found.run(call, parsed.values as never) };
}

interface FoundMethod {
  isLong: boolean;
  run: (call: Call) => Promise<Answer>;
}

async function describeAgent(io: Io, capabilities: ClientCapabilities): Promise<InitializeResponse> {
  return {
    protocolVersion,
    agentInfo: { name: "tau", title: "tau", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
    authMethods: await listAuthMethods(io, capabilities),
  };
}
