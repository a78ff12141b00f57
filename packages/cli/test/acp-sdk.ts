/**
 * The client of the official SDK, as far as the tests use it. Its messages have the types of our own schema, so that both are
 * compared with what the SDK accepts when the tests run: it validates everything that it sends and receives.
 */
import type {
  ClientCapabilities,
  CreateElicitationRequest,
  InitializeResponse,
  ListSessionsResponse,
  PromptResponse,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from "../src/acp/schema.generated.ts";

export type { ClientCapabilities, RequestPermissionRequest, SessionUpdate };

export interface SessionNotification {
  sessionId: string;
  update: SessionUpdate;
}

export interface SessionState {
  modes?: SessionModeState;
  configOptions?: readonly SessionConfigOption[];
}

/** The answers of the agent, by method. */
interface Answers {
  initialize: InitializeResponse;
  authenticate: object;
  "session/new": SessionState & { sessionId: string };
  "session/load": SessionState;
  "session/resume": SessionState;
  "session/list": ListSessionsResponse;
  "session/close": object;
  "session/delete": object;
  "session/set_mode": object;
  "session/set_config_option": { configOptions: readonly SessionConfigOption[] };
  "session/prompt": PromptResponse;
}

/** The requests of the agent, by method. */
interface Questions {
  "session/request_permission": RequestPermissionRequest;
  "elicitation/create": CreateElicitationRequest;
  "fs/read_text_file": { sessionId: string; path: string };
  "fs/write_text_file": { sessionId: string; path: string; content: string };
  "terminal/create": TerminalRequest;
  "terminal/output": { terminalId: string };
  "terminal/wait_for_exit": { terminalId: string };
  "terminal/kill": { terminalId: string };
  "terminal/release": { terminalId: string };
}

export interface TerminalRequest {
  sessionId: string;
  command: string;
  args?: readonly string[];
  env?: readonly { name: string; value: string }[];
  cwd?: string;
  outputByteLimit?: number;
}

export interface Agent {
  request<Method extends keyof Answers>(method: Method, params: object): Promise<Answers[Method]>;
  notify(method: string, params: object): Promise<void>;
}

export interface ClientApp {
  onRequest<Method extends keyof Questions>(
    method: Method,
    handler: (context: { params: Questions[Method]; signal: AbortSignal }) => object | Promise<object>,
  ): ClientApp;
  onNotification(method: "session/update", handler: (context: { params: SessionNotification }) => void): ClientApp;
  connect(stream: object): { readonly agent: Agent; close(): void };
}

interface Sdk {
  client(options: { name: string }): ClientApp;
  ndJsonStream(output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>): object;
  PROTOCOL_VERSION: number;
}

const packageName: string = "@agentclientprotocol/sdk";

export const sdk = (await import(packageName)) as Sdk;
