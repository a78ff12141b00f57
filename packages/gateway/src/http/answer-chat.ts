/** Answers a chat completion where its session is: here, or at another node of the cluster, which reports its steps. */
import type { Client } from "../client.ts";
import type { GatewayParts } from "../parts.ts";
import type { ChatRequest } from "./chat-request.ts";
import { openChatSession } from "./chat-session.ts";
import type { ChatAnswer } from "./chat-shapes.ts";
import { type ChatStep, followAnswer } from "./follow-answer.ts";

interface ChatContext {
  parts: GatewayParts;
  client: Client;
  /** The client is gone. */
  signal: AbortSignal;
  tell: (step: ChatStep) => void;
}

/** Without `sessionId` it begins a session, and without `model` the session has its own. */
type ChatCall = Pick<ChatRequest, "history" | "prompt"> & {
  model?: string;
  sessionId?: string;
  /** See `FollowOptions`. */
  endsRun?: boolean;
};

/** The name of `answerChat` between nodes. */
export const chatCallName = "http.chat";

export async function answerAnywhere(context: ChatContext, call: ChatCall): Promise<ChatAnswer> {
  const { parts, client, tell } = context;
  const { sessionId } = call;
  const here = () => answerChat(context, call);
  if (!parts.cluster || sessionId === undefined) return await here();
  // Steps come as frames from the other node.
  const receiver: Client = { ...client, send: (frame) => tell(JSON.parse(frame.json.toString()) as ChatStep) };
  const request = { client: receiver, requestId: client.connectionId };
  const { history: _history, ...params } = call;
  return (await parts.cluster.callSession(request, { method: chatCallName, sessionId, params }, here)) as ChatAnswer;
}

/** Throws `run_failed` or `aborted` where there is no answer. */
export async function answerChat(context: ChatContext, { sessionId, ...request }: ChatCall): Promise<ChatAnswer> {
  const { prompt, endsRun = false } = request;
  const chat = await openChatSession(context, request, sessionId);
  return await chat.open.use(() => followAnswer({ ...context, chat, prompt, endsRun: endsRun || chat.isNew }));
}
