/** The tools of MCP over the sessions of the gateway. */
import { HarnessError, type SessionEntry } from "@tau/protocol";
import type { OpenSessionData } from "@tau/protocol/gateway";
import type { Params } from "@tau/protocol/json-rpc";
import { readText, type SessionReport, type ToolName } from "@tau/protocol/mcp-server";
import { joinTexts } from "@tau/protocol/surface";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { callMethod } from "../methods/index.ts";
import type { GatewayParts } from "../parts.ts";
import { acceptAnywhere } from "./accept-anywhere.ts";
import { answerAnywhere } from "./answer-chat.ts";
import type { ChatStep } from "./follow-answer.ts";
import { onAbort, waitAnywhere } from "./wait-until-idle.ts";

interface McpToolContext {
  parts: GatewayParts;
  client: Client;
  /** Aborted when the request is cancelled. */
  signal: AbortSignal;
  onStep: (step: ChatStep) => void;
}

/** Faults that the calling model can mend; they become results. */
const modelFaults: readonly string[] = ["not_found", "session_not_found", "invalid_parameters", "busy", "moved"];

export async function callSessionTool(context: McpToolContext, name: ToolName, args: Params): Promise<SessionReport> {
  try {
    switch (name) {
      case "run":
        return await run(context, args);
      case "steer": {
        const sessionId = readText(args, "session");
        const { state } = await report(context, sessionId);
        if (state !== "running")
          throw new HarnessError("invalid_input", "No run is in progress in this session. Use run.");
        await call(context, "session.steer", { sessionId, message: readText(args, "message") });
        return await report(context, sessionId);
      }
      case "status":
        return await report(context, readText(args, "session"));
      case "result":
        return await waitForResult(context, readText(args, "session"));
      default:
        return name satisfies never;
    }
  } catch (error) {
    if (!(error instanceof GatewayError) || !modelFaults.includes(error.code)) throw error;
    throw new HarnessError("invalid_input", error.message, { cause: error });
  }
}

async function run(context: McpToolContext, args: Params): Promise<SessionReport> {
  const { parts, client, signal, onStep } = context;
  const prompt = { text: readText(args, "prompt"), images: [] };
  const named = args["session"] === undefined ? undefined : readText(args, "session");
  if (named !== undefined && (await report(context, named)).state === "running")
    throw new HarnessError("busy", "A run is already in progress in this session. Use steer, or wait with result.");
  const sessionId = named ?? (await createSession(context));
  if (args["wait"] === false) {
    const origin = { kind: "client", deviceId: client.deviceId, scopes: [...client.scopes] } as const;
    await acceptAnywhere(
      { parts, client },
      { sessionId, text: prompt.text, isVerbatim: true, mode: "followup", origin },
    );
    return { session: sessionId, state: "running" };
  }
  // Frames of another node end with the request and not with its connection.
  const requester: Client = { ...client, onClosed: (listener) => onAbort(signal, listener) };
  const following = { parts, client: requester, signal, tell: onStep };
  try {
    await answerAnywhere(following, { prompt, history: [], sessionId, endsRun: true });
    // The answer is there a moment before the session is idle again.
    return await waitForResult(context, sessionId);
  } catch (error) {
    const isOfRun = error instanceof GatewayError && ["run_failed", "aborted", "unknown_outcome"].includes(error.code);
    if (isOfRun) return { session: sessionId, state: "failed", reason: error.message };
    throw error;
  }
}

async function createSession(context: McpToolContext): Promise<string> {
  const { sessionId } = (await call(context, "sessions.create", {
    cwd: context.parts.sessions.defaultDirectory,
  })) as OpenSessionData;
  return sessionId;
}

/** Describes a session and the end of its last run, from its log. */
async function report(context: McpToolContext, sessionId: string): Promise<SessionReport> {
  const { status } = (await call(context, "sessions.open", { sessionId })) as OpenSessionData;
  if (status !== "idle" || context.parts.inbox.hasUnsettled(sessionId)) return { session: sessionId, state: "running" };
  const { entries } = (await call(context, "session.get_entries", { sessionId, limit: maxLookedAt })) as {
    entries: SessionEntry[];
  };
  return { session: sessionId, ...describeEnd(entries) };
}

/** After the last answer there are only few entries, such as a changed name. */
const maxLookedAt = 20;

/** Pure. */
function describeEnd(entries: readonly SessionEntry[]): Pick<SessionReport, "state" | "answer" | "reason"> {
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const last = messages.at(-1);
  if (!last) return { state: "idle" };
  if (last.role !== "assistant") return { state: "failed", reason: "The run ended before its answer." };
  const answer = joinTexts(last.content);
  const hasFailed = last.stopReason === "error" || last.stopReason === "aborted";
  if (!hasFailed) return { state: "done", answer };
  return { state: "failed", answer, reason: last.errorMessage ?? "The run ended before its answer." };
}

async function waitForResult(context: McpToolContext, sessionId: string): Promise<SessionReport> {
  const { signal, onStep } = context;
  for (;;) {
    const current = await report(context, sessionId);
    if (current.state !== "running" || signal.aborted) return current;
    await waitAnywhere({ ...context, onWait: () => onStep({ kind: "wait" }) }, sessionId);
  }
}

const call = ({ parts, client }: McpToolContext, method: string, params: Record<string, unknown>): Promise<unknown> =>
  callMethod(
    { parts, client, requestId: client.connectionId },
    { type: "req", id: client.connectionId, method, params },
  );
