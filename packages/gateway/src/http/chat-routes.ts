/** Chat completions and the list of models, for programs that speak OpenAI's protocol and nothing else. */
import type { ServerResponse } from "node:http";
import { listNamedAgents } from "@tau/config/resources";
import { maxBufferedBytes } from "../client.ts";
import { toFault } from "../errors.ts";
import { endResponse } from "../server/end-response.ts";
import type { DeviceRoute, RouteAnswer } from "../server/route.ts";
import { safeHeaders } from "../server/safe-headers.ts";
import { answerAnywhere } from "./answer-chat.ts";
import { parseChatRequest } from "./chat-request.ts";
import { agentPrefix } from "./chat-session.ts";
import { type ChatHead, toChatError, toChunk, toCompletion, toUsageChunk } from "./chat-shapes.ts";
import type { ChatStep } from "./follow-answer.ts";

const sessionHeader = "x-tau-session";

/** How a run can end without an answer; `unknown_outcome`: with the node that ran it. */
const runFaults: readonly string[] = ["run_failed", "aborted", "unknown_outcome"];

type ChatContext = Parameters<DeviceRoute["run"]>[0];

export const chatRoutes: readonly DeviceRoute[] = [
  {
    method: "POST",
    path: "/v1/chat/completions",
    auth: "write",
    toErrorBody: toChatError,
    run: completeChat,
  },
  {
    method: "GET",
    path: "/v1/models",
    auth: "read",
    toErrorBody: toChatError,
    run: async ({ parts }) => {
      const created = Math.floor(parts.startedAt / 1_000);
      const models = (await parts.listModels()).map(({ provider, id }) => ({
        id: `${provider}/${id}`,
        owner: provider,
      }));
      const agents = (await listNamedAgents(parts.agentDir)).map((name) => ({ id: agentPrefix + name, owner: "tau" }));
      const data = [...models, ...agents].map(({ id, owner }) => ({ id, object: "model", created, owned_by: owner }));
      return { status: 200, body: { object: "list", data } };
    },
  },
];

async function completeChat({ parts, client, headers, body, signal, response }: ChatContext): Promise<RouteAnswer> {
  const { stream: isStream, includeUsage, ...request } = parseChatRequest(body);
  const named = headers[sessionHeader];
  let sessionId = typeof named === "string" && named !== "" ? named : undefined;
  const head: ChatHead = { id: "", created: Math.floor(parts.clock.now() / 1_000), model: request.model };
  const stream = isStream ? new ChunkStream(response) : undefined;
  const whole = isStream ? undefined : new WholeAnswer(response);
  const tell = (step: ChatStep) => {
    if (step.kind === "text") stream?.write(toChunk(head, { content: step.text }));
    else if (step.kind === "wait") {
      stream?.writeComment();
      whole?.keepAlive(sessionId);
    } else if (step.kind === "accepted") {
      head.id = `chatcmpl-${step.messageId}`;
      sessionId = step.sessionId;
      stream?.begin(sessionId);
      stream?.write(toChunk(head, { role: "assistant", content: "" }));
    }
  };
  const call = { ...request, ...(sessionId !== undefined && { sessionId }) };
  try {
    const answer = await answerAnywhere({ parts, client, signal, tell }, call);
    if (whole?.hasBegun) return whole.end(toCompletion(head, answer));
    if (!stream) return { status: 200, body: toCompletion(head, answer), headers: toSessionHeader(sessionId) };
    stream.write(toChunk(head, {}, answer.finishReason));
    if (includeUsage) stream.write(toUsageChunk(head, answer.usage));
    stream.end();
    return "sent";
  } catch (error) {
    if (stream?.hasBegun) {
      stream.fail(error);
      return "sent";
    }
    const fault = toFault(error);
    if (whole?.hasBegun) return whole.end(toChatError(fault));
    if (!runFaults.includes(fault.code)) throw error;
    // The run has tried again itself, where that could help.
    const answerHeaders = { ...toSessionHeader(sessionId), "x-should-retry": "false" };
    return { status: 502, body: toChatError(fault), headers: answerHeaders };
  }
}

const toSessionHeader = (sessionId: string | undefined): Record<string, string> =>
  sessionId === undefined ? {} : { [sessionHeader]: sessionId };

/**
 * An answer in one piece of JSON. While the run continues, blank lines before it keep servers between from giving up. The first
 * of them commits to the status 200, so a failure after it is only in `error` of the body.
 */
class WholeAnswer {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  keepAlive(sessionId: string | undefined): void {
    if (this.#response.destroyed) return;
    if (!this.hasBegun) {
      const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
      this.#response.writeHead(200, { ...headers, ...toSessionHeader(sessionId), ...safeHeaders });
    }
    this.#response.write("\n");
  }

  end(body: unknown): "sent" {
    endResponse(this.#response, JSON.stringify(body));
    return "sent";
  }
}

/** Events of the kind that `EventSource` reads, each with a line of JSON. */
class ChunkStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  begin(sessionId: string): void {
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Servers between must not gather it.
      "x-accel-buffering": "no",
      [sessionHeader]: sessionId,
      ...safeHeaders,
    });
  }

  write(chunk: unknown): void {
    this.#send(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  /** Says nothing, so that nobody takes the connection for dead. */
  writeComment(): void {
    this.#send(": wait\n\n");
  }

  end(): void {
    endResponse(this.#response, "data: [DONE]\n\n");
  }

  /** Without the last line: the answer is not complete. */
  fail(error: unknown): void {
    this.write(toChatError(toFault(error)));
    endResponse(this.#response);
  }

  #send(text: string): void {
    // A client that reads too slowly is taken for gone.
    if (this.#response.writableLength > maxBufferedBytes) this.#response.destroy();
    else if (!this.#response.destroyed) this.#response.write(text);
  }
}
