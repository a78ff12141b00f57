/** Print and JSON mode with `--gateway`: the prompt runs in the gateway, and its answer is shown here. */
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { connectToGateway } from "@tau/protocol/node";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { canAnswer } from "../hosting/open-directory.ts";
import { prepareOutput } from "../modes/answer-file.ts";
import { readInput } from "../modes/read-input.ts";
import { mustHavePrompt, type PromptSession, sendPrompt, toAbsolute } from "../modes/send-prompt.ts";
import type { ShownSession } from "../modes/shown-session.ts";
import { version } from "../start/version.ts";
import { waitUntilLoaded } from "./remote-client.ts";

export async function runPromptInGateway(options: SessionOptions, io: Io): Promise<ExitCode> {
  await prepareOutput(options, io);
  const input = await readInput(io);
  mustHavePrompt(options, input);
  const isAttended = canAnswer(options, io);
  const gateway = await connectToGateway({
    agentDir: getAgentDir(io),
    client: { name: "tau -p", version },
    abilities: { approvals: isAttended },
  });
  // The run continues when this program ends: with its terminal, or with the reader of its output. Only Ctrl-C ends the run.
  let abortRun: (() => void) | undefined;
  const leave = () => gateway.close();
  const onSignal = () => (abortRun && io.signal.reason === "SIGINT" ? abortRun() : leave());
  io.signal.addEventListener("abort", onSignal);
  try {
    io.signal.throwIfAborted();
    const session = gateway.session(await openSession(gateway, options, io));
    await waitUntilLoaded(session);
    await applyChoices(session, options);
    // Files are where the user is, and the gateway is on the same machine.
    const files = toAbsolute(options.files, io.cwd);
    const prompt = { prompt: options.message, files, ...(input !== undefined && { input }) };
    const onRun = () => (abortRun = () => void session.call("abort", {}, { isLasting: false }).catch(leave));
    return await sendPrompt(toPromptSession(session, onRun), prompt, { options, io, isAttended });
  } finally {
    io.signal.removeEventListener("abort", onSignal);
    leave();
  }
}

/** The session that the flags choose; without such a flag, a new one. */
async function openSession(gateway: GatewayClient, options: SessionOptions, { cwd }: Io): Promise<string> {
  const { agent, name, session } = options;
  if (session !== undefined) return (await gateway.call("sessions.open", { sessionId: session })).sessionId;
  const last = options.continue ? await findLast(gateway, cwd) : undefined;
  if (last !== undefined) return (await gateway.call("sessions.open", { sessionId: last })).sessionId;
  const params = { cwd, ...(agent !== undefined && { agent }), ...(name !== undefined && { name }) };
  return (await gateway.call("sessions.create", params)).sessionId;
}

/** The session of a directory that was used last. A query also matches the directories below. */
async function findLast(gateway: GatewayClient, cwd: string, cursor?: string): Promise<string | undefined> {
  const page = await gateway.call("sessions.list", {
    query: cwd,
    children: false,
    ...(cursor !== undefined && { cursor }),
  });
  const last = page.sessions.find((session) => session.cwd === cwd);
  if (last || page.cursor === undefined) return last?.id;
  return await findLast(gateway, cwd, page.cursor);
}

async function applyChoices(session: RemoteSession, options: SessionOptions): Promise<void> {
  const { model, thinking, permissionMode, planMode } = options;
  if (permissionMode !== undefined) await session.call("set_permission_mode", { mode: permissionMode });
  if (planMode) await session.call("set_permission_mode", { mode: "plan" });
  if (model !== undefined) await session.call("set_model", { modelId: model });
  if (thinking !== undefined) await session.call("set_thinking_level", { level: thinking as "off" });
}

/** `onRun` is called just before the prompt is sent. The gateway has taken keys out of what it sends. */
const toPromptSession = (session: RemoteSession, onRun: () => void): PromptSession => ({
  id: session.id,
  shown: toShown(session),
  getHeader: async () => (await session.call("get_state")).header,
  getStats: () => session.call("get_session_stats"),
  createRedactor: async () => ({ redactEvent: (event) => [event], redactLine: (line) => line }),
  // The gateway sends its own events, whatever the settings here say.
  jsonEvents: "tau",
  // They run in the gateway.
  start: async () => {},
  run: (prompt) => {
    onRun();
    return session.call("execute", { ...prompt, outcome: true });
  },
});

const toShown = (session: RemoteSession): ShownSession => ({
  get view() {
    return session.view;
  },
  onEvent: (listener) => session.onEvent(listener),
  onChange: (listener) => {
    const stops = [session.onEvent(() => listener(session.view)), session.onSnapshot(listener)];
    return () => stops.forEach((stop) => stop());
  },
  approve: (approvalId, answer) => void session.call("approve", { approvalId, ...answer }).catch(() => undefined),
  abort: async () => void (await session.call("abort")),
});
