/** Says a message in a session and follows its answer until it is complete. */
import { getErrorMessage } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEvent } from "@tau/protocol";
import { getActivity, getCallSubject } from "@tau/protocol/surface";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { getFirstWords } from "../inbox/message.ts";
import type { GatewayParts } from "../parts.ts";
import { AnswerReader } from "./answer-reader.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { ChatSession } from "./chat-session.ts";
import type { ChatAnswer } from "./chat-shapes.ts";

interface FollowOptions {
  parts: GatewayParts;
  client: Client;
  chat: ChatSession;
  prompt: ChatRequest["prompt"];
  /** The client is gone. */
  signal: AbortSignal;
  /** Whether the run ends then. */
  endsRun: boolean;
  tell: (step: ChatStep) => void;
}

/** Steps that are reported before an answer is complete. */
export type ChatStep =
  /** The message is on the disk. */
  | { kind: "accepted"; messageId: string; sessionId: string }
  | { kind: "text"; text: string }
  /** The run does something else now. */
  | { kind: "activity"; text: string }
  /** Called now and then while nothing else happens. */
  | { kind: "wait" };

const waitMs = 15_000;

/** Throws `run_failed` or `aborted` where there is no answer. */
export async function followAnswer(options: FollowOptions): Promise<ChatAnswer> {
  const { parts, client, chat, prompt, signal, endsRun, tell } = options;
  const { host, hosted } = chat.open;
  const { sessionId } = hosted.session;
  const { promise, resolve, reject } = createSettled<ChatAnswer>();
  const fail = (code: string, message: string) => reject(new GatewayError(code, message));
  const events = createBuffer(hosted);
  const stopWatching = host.watch({
    onOpened: () => {},
    onClosed: (id) => {
      if (id === sessionId) fail("aborted", "The session was closed before its answer.");
    },
  });
  let stopWaiting = () => {};
  try {
    const { messageId, disposition } = await parts.inbox.accept({
      sessionId,
      text: prompt.text,
      ...(prompt.images.length > 0 && { images: prompt.images }),
      isVerbatim: true,
      mode: "followup",
      origin: { kind: "client", deviceId: client.deviceId, scopes: [...client.scopes] },
    });
    tell({ kind: "accepted", messageId, sessionId });
    const reader = new AnswerReader(messageId);
    const finish = (finishReason: ChatAnswer["finishReason"]) =>
      resolve({ text: reader.text, finishReason, usage: reader.usage });
    if (disposition === "handled") finish("stop");
    let activity: string | undefined;
    events.readAll((event) => {
      const next = reader.isSaid ? getActivity(event, formatCall) : undefined;
      if (next !== undefined && next !== activity) tell({ kind: "activity", text: chat.open.redactLine(next) });
      activity = next ?? activity;
      const step = reader.take(event);
      if (step.kind === "text") tell(step);
      else if (step.kind === "done") finish(step.finishReason);
      else if (step.kind === "failed") fail(step.code, step.message);
    });
    const look = () => {
      const isLost =
        !reader.isSaid && !parts.inbox.list({ sessionId, state: "waiting" }).some(({ id }) => id === messageId);
      if (isLost) return fail("aborted", "The message was given up, or cancelled, before it was said.");
      tell({ kind: "wait" });
      stopWaiting = parts.clock.setTimer(waitMs, look);
    };
    stopWaiting = parts.clock.setTimer(waitMs, look);
    const onGone = () => {
      if (endsRun) endRun(options).catch((error: unknown) => parts.log(getErrorMessage(error)));
      fail("aborted", "Nobody waits for the answer any more: the client, or the gateway that it uses, is gone.");
    };
    if (signal.aborted) onGone();
    else signal.addEventListener("abort", onGone, { once: true });
    return await promise.finally(() => signal.removeEventListener("abort", onGone));
  } finally {
    stopWaiting();
    stopWatching();
    events.stop();
  }
}

/** Nobody waits for this run. */
async function endRun({ parts, chat }: FollowOptions): Promise<void> {
  const { hosted } = chat.open;
  for (const { id } of parts.inbox.list({ sessionId: hosted.session.sessionId, state: "waiting" })) {
    await parts.inbox.cancel(id);
  }
  await hosted.abort("gateway_disconnected");
}

const maxSubjectLength = 60;

/** Formats a call as the tool and what it is about, on one line. */
const formatCall = ({ toolName, input }: Extract<SessionEvent, { type: "tool_execution_start" }>): string =>
  `${toolName} ${getFirstWords(getCallSubject(input), maxSubjectLength)}`.trim();

function createSettled<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  // It may be rejected before anybody waits for it.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** The events of a session, kept until it is known which of them matter. */
function createBuffer(hosted: HostedSession) {
  const kept: SessionEvent[] = [];
  let read: (event: SessionEvent) => void = (event) => void kept.push(event);
  const { epoch, seq } = hosted.position;
  const stop = hosted.subscribe(
    (item) => {
      if (item.kind === "event") read(item.event);
    },
    { epoch, seq },
  );
  return {
    readAll(reader: (event: SessionEvent) => void): void {
      for (const event of kept) reader(event);
      read = reader;
    },
    stop,
  };
}
