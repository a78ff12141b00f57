/**
 * One request, from context to events. Everything a protocol must not know about is here, once: credentials, sending,
 * framing, time limits, retries and the wall that turns whatever goes wrong into the stream's last event.
 */
import { platform } from "#platform";
import { type Clock, type Random, sleep, systemClock, systemRandom } from "../clock.ts";
import type { Context } from "../context.ts";
import { AssistantMessageEventStream } from "../event-stream.ts";
import { classifyError, classifyResponse, classifyThrown, type Failure, parseErrorBody } from "../failure.ts";
import type { AssistantMessage, AssistantMessageDiagnostic } from "../message.ts";
import type { Model } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import { envApiKey } from "../auth/env-keys.ts";
import { AwsEventStreamFramer } from "../transport/aws-event-stream.ts";
import { Deadline } from "../transport/deadline.ts";
import { type HttpRequest, type HttpResponse, mostErrorBytes, mostResponseBytes, readText } from "../transport/http.ts";
import { retryDelay } from "../transport/retry.ts";
import { SseFramer } from "../transport/sse.ts";
import { resolveBaseUrl } from "./base-url.ts";
import { Draft } from "./draft.ts";
import { type EncodeNote, type EncodedRequest, type Frame, MissingCredentials, type Protocol } from "./protocol.ts";
import { checkUsage } from "./silent-limits.ts";

/** Everything one request shares. Built once, never reassigned. */
interface Run<TOptions extends StreamOptions, TState> {
  readonly protocol: Protocol<TOptions, TState>;
  readonly model: Model;
  readonly options: TOptions;
  readonly encoded: EncodedRequest;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Env;
  readonly stream: AssistantMessageEventStream;
  /** Grows over the attempts; ends up in the message. */
  readonly diagnostics: AssistantMessageDiagnostic[];
}

interface Limits {
  maxRetries: number;
  maxDelayMs: number;
  totalMs: number;
  idleMs: number;
  firstMs: number;
}

function resolveLimits(model: Model, options: StreamOptions): Limits {
  const idleMs = options.idleTimeoutMs ?? 300_000;
  return {
    maxRetries: options.maxRetries ?? 2,
    maxDelayMs: options.maxRetryDelayMs ?? 60_000,
    totalMs: options.timeoutMs ?? 3_600_000,
    idleMs,
    firstMs: idleMs === 0 ? 0 : Math.max(idleMs, model.firstTokenTimeoutMs ?? 0),
  };
}

/** Starts a request and returns its stream at once. Whatever happens, the stream ends in `done` or `error`. */
export function runProtocol<TOptions extends StreamOptions, TState>(
  load: () => Promise<Protocol<TOptions, TState>>,
  request: {
    model: Model;
    context: Context;
    options: (protocol: Protocol<TOptions, TState>) => TOptions;
    clock: Clock | undefined;
  },
): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const clock = request.clock ?? systemClock;
  const draft = new Draft(request.model, clock.now());
  const produce = async () => {
    const protocol = await load();
    const options = request.options(protocol);
    const encoded = protocol.encode(request.model, request.context, options);
    await attemptUntilDone({
      protocol,
      model: request.model,
      options,
      encoded,
      limits: resolveLimits(request.model, options),
      clock,
      random: options.random ?? systemRandom,
      env: (name) => options.env?.[name] ?? platform.env(name),
      stream,
      diagnostics: encoded.notes.map((note) => diagnostic(note, clock)),
    });
  };
  produce().catch((error: unknown) => {
    const failure = error instanceof MissingCredentials ? authFailure(error) : classifyThrown(error);
    stream.push({ type: "error", reason: "error", error: failed(draft.message, failure) });
  });
  return stream;
}

async function attemptUntilDone<TOptions extends StreamOptions, TState>(run: Run<TOptions, TState>): Promise<void> {
  const { stream, limits, clock } = run;
  const { signal } = run.options;
  noteTransport(run);
  for (let attempt = 0; ; attempt++) {
    const draft = new Draft(run.model, clock.now());
    const outcome = await attemptOnce(run, draft);
    if (outcome.kind === "done") {
      finish(run, draft);
      return;
    }
    const { failure } = outcome;
    const afterMs = outcome.shown ? undefined : retryDelay(failure, attempt, limits, run.random);
    if (afterMs === undefined) {
      finishWithFailure(run, draft, failure);
      return;
    }
    run.diagnostics.push(
      diagnostic(
        { type: "retried", message: failure.message, details: { kind: failure.kind, attempt, afterMs } },
        clock,
      ),
    );
    if ((await sleep(clock, afterMs, signal)) === "aborted") {
      finishWithFailure(run, draft, abortedFailure);
      return;
    }
    if (stream.ended) return;
  }
}

type AttemptOutcome = { kind: "done" } | { kind: "failed"; failure: Failure; shown: boolean };

/** One attempt. The wall: whatever is thrown on the way becomes a failure. */
async function attemptOnce<TOptions extends StreamOptions, TState>(
  run: Run<TOptions, TState>,
  draft: Draft,
): Promise<AttemptOutcome> {
  const { signal } = run.options;
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal?.reason);
  if (signal?.aborted) return { kind: "failed", failure: abortedFailure, shown: false };
  signal?.addEventListener("abort", onAbort, { once: true });
  let expired: Failure | undefined;
  const deadline = new Deadline(run.clock, run.limits, (expiry) => {
    expired = expiry === "idle" ? idleFailure(run.limits.idleMs) : totalFailure(run.limits.totalMs);
    abort.abort(expired);
  });
  const progress: Progress = { shown: false, onContent: () => deadline.content() };
  try {
    const failure = await exchange(run, draft, abort.signal, progress);
    return failure ? { kind: "failed", failure, shown: progress.shown } : { kind: "done" };
  } catch (error) {
    // A server that said why it stopped and then left the line open has answered.
    if (expired && draft.state.kind === "stopped") return { kind: "done" };
    return { kind: "failed", failure: failureOf(error, signal, expired), shown: progress.shown };
  } finally {
    deadline.close();
    signal?.removeEventListener("abort", onAbort);
    abort.abort();
  }
}

function failureOf(error: unknown, signal: AbortSignal | undefined, expired: Failure | undefined): Failure {
  if (signal?.aborted) return abortedFailure;
  if (expired) return expired;
  if (error instanceof MissingCredentials) return authFailure(error);
  return classifyThrown(error);
}

interface Progress {
  /** Whether the reader has seen anything of this attempt; then it cannot be repeated. */
  shown: boolean;
  onContent: () => void;
}

/** Sends the request and reads the answer into the draft. Returns why it failed, if it did. */
async function exchange<TOptions extends StreamOptions, TState>(
  run: Run<TOptions, TState>,
  draft: Draft,
  signal: AbortSignal,
  progress: Progress,
): Promise<Failure | undefined> {
  const request = await buildRequest(run);
  const response = await platform.send(request, { signal, env: run.env });
  await run.options.onResponse?.({ status: response.status, headers: response.headers }, run.model);
  if (response.status < 200 || response.status >= 300) return await responseFailure(run, response);

  const { protocol, stream } = run;
  const state = protocol.start(draft);
  const take = (frame: Frame) => {
    const events = protocol.step(state, frame);
    for (const event of events) stream.push(event);
    if (events.length > 0) {
      progress.shown = true;
      progress.onContent();
    }
  };
  const damage = await readFrames(response, protocol.framing, (frame) => {
    take(frame);
    return draft.state.kind === "ended" || draft.state.kind === "failed";
  });
  if (draft.state.kind === "failed") return draft.state.failure;
  if (damage) return damage;
  if (draft.state.kind === "open") {
    return { kind: "network", message: "The connection was closed before the model had finished." };
  }
  return undefined;
}

async function buildRequest<TOptions extends StreamOptions, TState>(run: Run<TOptions, TState>): Promise<HttpRequest> {
  const { encoded, model, options } = run;
  const replaced = await options.onPayload?.(encoded.payload, model);
  const request: HttpRequest = {
    method: "POST",
    url: resolveBaseUrl(model, run.env) + encoded.path,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...encoded.headers,
      ...lowerCase(model.headers),
    },
    body: JSON.stringify(replaced === undefined ? encoded.payload : replaced),
  };
  const apiKey = options.apiKey ?? envApiKey(model.provider, run.env);
  const authorized = await run.protocol.authorize(request, { model, options, apiKey, env: run.env, clock: run.clock });
  const headers = { ...authorized.headers };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  return { ...authorized, headers };
}

const lowerCase = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

async function responseFailure<TOptions extends StreamOptions, TState>(
  run: Run<TOptions, TState>,
  response: HttpResponse,
): Promise<Failure> {
  const body = await readText(response.body, mostErrorBytes);
  const { location } = response.headers;
  if (response.status >= 300 && response.status < 400) {
    return {
      kind: "invalid_request",
      status: response.status,
      message: `The server redirects to ${location ?? "nowhere"}. That was not followed, because the request carries a key; set the base URL to the right address instead.`,
    };
  }
  return classifyResponse({ status: response.status, headers: response.headers, body }, run.clock.now());
}

/**
 * Reads frames until `take` says that it has enough, or the body ends. Returns a failure when the body was not the
 * stream that was asked for, or was damaged.
 */
async function readFrames(
  response: HttpResponse,
  framing: "sse" | "aws-event-stream",
  take: (frame: Frame) => boolean,
): Promise<Failure | undefined> {
  const framer = framing === "sse" ? new SseFrames() : new AwsEventStreamFramer();
  let size = 0;
  let first = true;
  for await (const chunk of response.body) {
    if (first && chunk.length > 0) {
      first = false;
      if (looksLikeDocument(chunk)) return documentFailure(await rest(chunk, response.body));
    }
    size += chunk.length;
    if (size > mostResponseBytes) {
      return { kind: "unknown", message: `The answer is longer than ${mostResponseBytes} bytes and was cut off.` };
    }
    for (const frame of framer.push(chunk)) if (take(frame)) return undefined;
    if (framer.damage) return { kind: "network", message: framer.damage };
  }
  if (first) return { kind: "network", message: "The server answered with an empty body." };
  for (const frame of framer.end()) if (take(frame)) return undefined;
  return framer.damage ? { kind: "network", message: framer.damage } : undefined;
}

/** A stream starts with a field name, a comment or a binary length; JSON and HTML start like this. */
function looksLikeDocument(chunk: Uint8Array): boolean {
  const start = chunk.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  return start === 0x7b || start === 0x5b || start === 0x3c;
}

async function rest(first: Uint8Array, body: AsyncIterable<Uint8Array>): Promise<string> {
  async function* all() {
    yield first;
    yield* body;
  }
  return await readText(all(), mostErrorBytes);
}

function documentFailure(body: string): Failure {
  const error = parseErrorBody(body);
  const failure = classifyError(error);
  if (failure.kind !== "unknown") return failure;
  return { kind: "unknown", message: `The server answered with a document instead of a stream: ${error.message}` };
}

/** Server-sent events whose data is JSON. */
class SseFrames {
  readonly #framer = new SseFramer();
  damage: string | undefined;

  push(chunk: Uint8Array): Frame[] {
    return this.#parse(this.#framer.push(chunk));
  }

  end(): Frame[] {
    return this.#parse(this.#framer.end());
  }

  #parse(events: { event?: string; data: string }[]): Frame[] {
    const frames: Frame[] = [];
    for (const { event, data } of events) {
      const named = event === undefined ? {} : { event };
      if (data === "" || data === "[DONE]") {
        frames.push({ ...named, data });
        continue;
      }
      try {
        frames.push({ ...named, data: JSON.parse(data) });
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        this.damage = `The stream is damaged: ${JSON.stringify(data.slice(0, 200))} is not JSON.`;
        break;
      }
    }
    return frames;
  }
}

function finish<TOptions extends StreamOptions, TState>(run: Run<TOptions, TState>, draft: Draft): void {
  const { message } = draft;
  draft.closeAll();
  flush(run, draft);
  const reason = draft.state.kind === "stopped" || draft.state.kind === "ended" ? draft.state.reason : "stop";
  // Some servers report an ordinary stop although they asked for tools, some the reverse; the content decides.
  const hasCalls = message.content.some((block) => block.type === "toolCall");
  message.stopReason = reason === "length" ? "length" : hasCalls ? "toolUse" : "stop";
  for (const note of checkUsage(message, run.model, run.encoded.payload))
    run.diagnostics.push(diagnostic(note, run.clock));
  attachDiagnostics(message, run.diagnostics);
  run.stream.push({ type: "done", reason: message.stopReason, message });
}

function finishWithFailure<TOptions extends StreamOptions, TState>(
  run: Run<TOptions, TState>,
  draft: Draft,
  failure: Failure,
): void {
  draft.abandon();
  flush(run, draft);
  attachDiagnostics(draft.message, run.diagnostics);
  const error = failed(draft.message, failure);
  run.stream.push({ type: "error", reason: error.stopReason === "aborted" ? "aborted" : "error", error });
}

function flush<TOptions extends StreamOptions, TState>(run: Run<TOptions, TState>, draft: Draft): void {
  for (const event of draft.take()) run.stream.push(event);
}

function failed(message: AssistantMessage, failure: Failure): AssistantMessage {
  message.stopReason = failure.kind === "aborted" ? "aborted" : "error";
  message.errorMessage = failure.message;
  message.failure = failure;
  return message;
}

function attachDiagnostics(message: AssistantMessage, diagnostics: AssistantMessageDiagnostic[]): void {
  if (diagnostics.length > 0) message.diagnostics = diagnostics;
}

const diagnostic = (note: EncodeNote, clock: Clock): AssistantMessageDiagnostic => ({
  type: note.type,
  timestamp: clock.now(),
  error: { message: note.message },
  ...(note.details && { details: note.details }),
});

function noteTransport<TOptions extends StreamOptions, TState>(run: Run<TOptions, TState>): void {
  const { transport } = run.options;
  if (transport !== "websocket" && transport !== "websocket-cached") return;
  const message = `The transport ${transport} is not available; the request used server-sent events.`;
  run.diagnostics.push(diagnostic({ type: "transport_fallback", message, details: { transport } }, run.clock));
}

const abortedFailure: Failure = { kind: "aborted", message: "The request was aborted." };

const authFailure = (error: MissingCredentials): Failure => ({ kind: "auth", message: error.message });

const idleFailure = (idleMs: number): Failure => ({
  kind: "idle_timeout",
  message: `The provider sent no content for ${Math.round(idleMs / 1_000)} s.`,
});

const totalFailure = (totalMs: number): Failure => ({
  kind: "idle_timeout",
  message: `The answer was not complete after ${Math.round(totalMs / 1_000)} s.`,
});
