/** Print and JSON mode with `--gateway`: the prompt runs in the gateway, and its answer is shown here. */
import { resolve } from "node:path";
import type { AnswerData, CommandParams, SessionEvent, StatsData } from "@tau/protocol";
import { type GatewayClient, isGatewayClientError, type RemoteSession } from "@tau/protocol/client";
import { connectToGateway } from "@tau/protocol/node";
import { getAgentDir } from "../agent-dir.ts";
import type { SessionOptions } from "../args.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { canAnswer } from "../open-directory.ts";
import { showProgress } from "../progress.ts";
import { readInput } from "../read-input.ts";
import { formatDenied, mustHavePrompt } from "../run-prompts.ts";
import type { ShownSession } from "../shown-session.ts";
import { version } from "../version.ts";
import { waitUntilLoaded } from "./remote-client.ts";

export async function runPromptInGateway(options: SessionOptions, io: Io): Promise<ExitCode> {
  const input = await readInput(io);
  mustHavePrompt(options, input);
  const isAttended = canAnswer(options, io);
  const gateway = await connectToGateway({
    agentDir: getAgentDir(io),
    client: { name: "tau -p", version },
    abilities: { approvals: isAttended },
  });
  try {
    const session = gateway.session(await openSession(gateway, options, io));
    await waitUntilLoaded(session);
    await chooseModel(session, options);
    return await runPrompt(session, { options, io, isAttended, prompt: toPrompt(options, input, io.cwd) });
  } finally {
    gateway.close();
  }
}

/** The session that the flags choose; without such a flag, a new one. */
async function openSession(gateway: GatewayClient, options: SessionOptions, { cwd }: Io): Promise<string> {
  const { agent, name, session } = options;
  if (session !== undefined) return (await gateway.call("sessions.open", { sessionId: session })).sessionId;
  if (options.continue) {
    const { sessions } = await gateway.call("sessions.list", { all: true, query: cwd });
    const last = sessions.find((one) => one.cwd === cwd);
    if (last) return (await gateway.call("sessions.open", { sessionId: last.id })).sessionId;
  }
  const params = { cwd, ...(agent !== undefined && { agent }), ...(name !== undefined && { name }) };
  return (await gateway.call("sessions.create", params)).sessionId;
}

async function chooseModel(session: RemoteSession, { model, thinking }: SessionOptions): Promise<void> {
  if (model !== undefined) {
    const [provider = "", ...id] = model.split("/");
    if (id.length === 0) throw new Error("--model with --gateway takes a provider and an id, such as anthropic/NAME.");
    await session.call("set_model", { provider, modelId: id.join("/") });
  }
  if (thinking !== undefined) await session.call("set_thinking_level", { level: thinking as "off" });
}

/** Files are where the user is, and the gateway is on the same machine. Pure. */
function toPrompt({ files, message }: SessionOptions, input: string | undefined, cwd: string): Prompt {
  const paths = files.map((path) => (path.startsWith("~") ? path : resolve(cwd, path)));
  return { prompt: message, files: paths, ...(input !== undefined && { input }) };
}

type Prompt = CommandParams<"execute">;

interface PromptRun {
  options: SessionOptions;
  io: Io;
  isAttended: boolean;
  prompt: Prompt;
}

async function runPrompt(session: RemoteSession, { options, io, isAttended, prompt }: PromptRun): Promise<ExitCode> {
  const shown = toShown(session);
  const isText = options.mode === "text";
  const write = (record: unknown) => io.out(jsonLine(record));
  const endProgress = isText ? showProgress(shown, options, io) : () => {};
  if (isAttended) (await import("../answer-approvals.ts")).answerApprovals(shown, io);
  const denied: string[] = [];
  let turns = 0;
  session.onEvent((event: SessionEvent) => {
    if (event.type === "tool_denied") denied.push(event.advice);
    if (event.type === "turn_start") turns++;
    if (options.mode === "json") write(event);
  });
  const before = await session.call("get_session_stats");
  // The run goes on when the connection is lost; only a person ends it.
  const abort = () => void session.call("abort").catch(() => undefined);
  io.signal.addEventListener("abort", abort);
  const end = await execute(session, prompt).finally(() => io.signal.removeEventListener("abort", abort));
  endProgress();
  if (isText && end.answer !== "") io.out(end.answer.endsWith("\n") ? end.answer : `${end.answer}\n`);
  if (!isText) write(toResult(session.id, end, { turns, before, after: await session.call("get_session_stats") }));
  const reason = formatEnd(end, denied);
  if (reason !== undefined && (isText || !options.quiet)) io.err(`tau: ${reason}\n`);
  return toExitCode(end, denied.length);
}

/** How a prompt ended, also one without an answer. */
interface PromptEnd extends AnswerData {
  error?: { kind: string; message: string };
}

async function execute(session: RemoteSession, prompt: Prompt): Promise<PromptEnd> {
  try {
    return await session.call("execute", prompt);
  } catch (error) {
    if (!isGatewayClientError(error) || !["aborted", "run_failed"].includes(error.code)) throw error;
    const terminationReason = error.code === "aborted" ? "abort_signal" : "error";
    return { answer: "", terminationReason, error: { kind: error.code, message: error.message } };
  }
}

const toShown = (session: RemoteSession): ShownSession => ({
  get view() {
    return session.view;
  },
  onEvent: (listener) => session.onEvent(listener),
  approve: (approvalId, answer) => void session.call("approve", { approvalId, ...answer }).catch(() => undefined),
  abort: async () => void (await session.call("abort")),
});

/** Pure. */
function toExitCode({ terminationReason, detail = "" }: PromptEnd, denied: number): ExitCode {
  if (terminationReason === "abort_signal") return exitCodes.interrupted;
  if (terminationReason === "error" || detail === "length" || detail.startsWith("budget_")) return exitCodes.failed;
  return denied > 0 ? exitCodes.denied : exitCodes.done;
}

/** Why the run ended; undefined if there is nothing to say besides the answer. Pure. */
function formatEnd({ answer, terminationReason, detail, error }: PromptEnd, denied: readonly string[]) {
  if (terminationReason === "abort_signal") return "interrupted.";
  if (error) return error.message;
  if (detail === "length") return "the answer reached its length limit.";
  if (detail?.startsWith("budget_")) return `the run reached its limit of ${detail.slice("budget_".length)}.`;
  if (denied.length > 0) return formatDenied(denied);
  return answer.trim() === "" ? "the answer is empty." : undefined;
}

interface Spent {
  turns: number;
  before: StatsData;
  after: StatsData;
}

/** As in JSON mode without a gateway. Pure. */
function toResult(sessionId: string, end: PromptEnd, { turns, before, after }: Spent) {
  const { answer, terminationReason, detail = null, error } = end;
  const names = ["input", "output", "cacheRead", "cacheWrite", "total"] as const;
  const usage = Object.fromEntries(names.map((name) => [name, after.tokens[name] - before.tokens[name]]));
  const cost = after.cost - before.cost;
  const sessionFile = after.sessionFile ?? null;
  return { type: "result", answer, sessionId, sessionFile, terminationReason, detail, turns, usage, cost, error };
}
