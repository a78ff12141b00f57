/** ACP in this process, with raw lines or with the client of the official SDK. */
import { PassThrough, Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Io } from "../src/commands/command.ts";
import { main } from "../src/start/main.ts";
import type { ExitCode } from "../src/process/exit-codes.ts";
import {
  type Agent,
  type ClientApp,
  type ClientCapabilities,
  sdk,
  type SessionNotification,
  type SessionUpdate,
} from "./acp-sdk.ts";
import type { RunOptions, Workspace } from "./kit.ts";

export type Json = Record<string, unknown>;

export interface AcpOptions extends Pick<RunOptions, "env" | "oauthProviders" | "signal"> {
  args?: readonly string[];
}

/** Runs `tau acp` over streams, until the end of the test at the latest. */
export function startAcp(
  { directory, agentDir }: Workspace,
  { input, out }: { input: PassThrough; out: (text: string) => void },
  { args = [], env = {}, oauthProviders, signal = new AbortController().signal }: AcpOptions = {},
) {
  let err = "";
  const io: Io = {
    out: (text) => out(String(text)),
    drained: () => undefined,
    err: (text) => void (err += String(text)),
    input: () => input,
    terminal: { input: false, out: false, err: false },
    columns: undefined,
    colour: false,
    signal,
    cwd: directory,
    env: { TAU_DIR: agentDir, HOME: directory, ...env },
    ...(oauthProviders && { oauthProviders }),
  };
  const done: Promise<ExitCode> = main(["acp", ...args], io);
  onTestFinished(async () => {
    input.end();
    await done;
  });
  const close = () => {
    input.end();
    return done;
  };
  return { done, err: () => err, close };
}

/** The official client, with the answers of a person who allows everything unless a handler says otherwise. */
export function connectClient(workspace: Workspace, setUp: (app: ClientApp) => void, options?: AcpOptions) {
  const toProgram = new PassThrough();
  const fromProgram = new PassThrough();
  const program = startAcp(workspace, { input: toProgram, out: (text) => void fromProgram.write(text) }, options);
  void program.done.finally(() => fromProgram.end());
  return { ...program, ...openClient({ toProgram, fromProgram }, setUp) };
}

/** The official client over the streams of a program. */
export function openClient(
  { toProgram, fromProgram }: { toProgram: Writable; fromProgram: Readable },
  setUp: (app: ClientApp) => void,
) {
  const updates: SessionNotification[] = [];
  const watchers = new Set<() => void>();
  const app = sdk.client({ name: "test" }).onNotification("session/update", ({ params }) => {
    updates.push(params);
    for (const check of watchers) check();
  });
  setUp(app);
  const stream = sdk.ndJsonStream(
    Writable.toWeb(toProgram) as WritableStream<Uint8Array>,
    Readable.toWeb(fromProgram) as ReadableStream<Uint8Array>,
  );
  const connection = app.connect(stream);
  onTestFinished(() => connection.close());
  /** Resolves with the first update that matches, including earlier ones. */
  const seen = <Kind extends SessionUpdate["sessionUpdate"]>(
    kind: Kind,
    isMatch: (update: Extract<SessionUpdate, { sessionUpdate: Kind }>) => boolean = () => true,
  ) =>
    new Promise<Extract<SessionUpdate, { sessionUpdate: Kind }>>((resolve) => {
      const check = () => {
        const match = listUpdates(updates, kind).find(isMatch);
        if (!match) return;
        watchers.delete(check);
        resolve(match);
      };
      watchers.add(check);
      check();
    });
  return { agent: connection.agent, connection, updates, seen };
}

export const listUpdates = <Kind extends SessionUpdate["sessionUpdate"]>(
  updates: readonly SessionNotification[],
  kind: Kind,
) =>
  updates.flatMap(({ update }) =>
    update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: Kind }>] : [],
  );

/** The text of all chunks of a kind. */
export const joinText = (
  updates: readonly SessionNotification[],
  kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" = "agent_message_chunk",
): string =>
  listUpdates(updates, kind)
    .map(({ content }) => (content.type === "text" ? content.text : ""))
    .join("");

export const initialize = (agent: Agent, clientCapabilities: ClientCapabilities = {}) =>
  agent.request("initialize", { protocolVersion: sdk.PROTOCOL_VERSION, clientCapabilities });

export const newSession = (agent: Agent, { directory }: Workspace) =>
  agent.request("session/new", { cwd: directory, mcpServers: [] });

export const prompt = (agent: Agent, sessionId: string, text: string) =>
  agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

/** Raw lines, for what the official client does not send. */
export function serveLines(workspace: Workspace, options?: AcpOptions) {
  const input = new PassThrough();
  const records: Json[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  const out = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    records.push(...lines.map((line) => JSON.parse(line) as Json));
    for (const check of watchers) check();
  };
  const program = startAcp(workspace, { input, out }, options);
  const seen = (isMatch: (record: Json) => boolean) =>
    new Promise<Json>((resolve) => {
      const check = () => {
        const record = records.find(isMatch);
        if (!record) return;
        watchers.delete(check);
        resolve(record);
      };
      watchers.add(check);
      check();
    });
  const send = (record: object | string) =>
    void input.write(`${typeof record === "string" ? record : JSON.stringify({ jsonrpc: "2.0", ...record })}\n`);
  let lastId = 0;
  const ask = (method: string, params: object = {}) => {
    const id = `kit-${++lastId}`;
    send({ id, method, params });
    return seen((record) => record["id"] === id && record["method"] === undefined);
  };
  return { ...program, input, records, seen, send, ask };
}
