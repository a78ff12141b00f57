/**
 * One request, from context to events. Everything a protocol must not know about is here, once: credentials, sending,
 * framing, time limits, retries and the wall that turns whatever goes wrong into the stream's last event.
 */
import { platform } from "#platform";
import { type Clock, type Random, sleep, systemClock, systemRandom } from "../clock.ts";
import { untilAborted } from "../internal/until-aborted.ts";
import type { Context } from "../context.ts";
import type { AssistantMessageEventStream } from "../event-stream.ts";
import { classifyResponse, classifyThrown, type Failure } from "../failure.ts";
import type { AssistantMessage, AssistantMessageDiagnostic } from "../message.ts";
import type { Model } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import { envApiKey } from "../auth/env-keys.ts";
import { Deadline } from "../transport/deadline.ts";
import { type HttpRequest, type HttpResponse, maxErrorBytes, readText } from "../transport/http.ts";
import { retryDelay } from "../transport/retry.ts";
import { version } from "../version.ts";
import { resolveBaseUrl } from "./base-url.ts";
import { degrade } from "./degrade.ts";
import { Draft } from "./draft.ts";
import { readFrames } from "./frames.ts";
import {
  type EncodeNote,
  type EncodedRequest,
  type Frame,
  MissingCredentials,
  type Protocol,
  type ProtocolRequest,
} from "./protocol.ts";
import { providerHeaders } from "./provider-headers.ts";
import { record } from "./read.ts";
import { checkUsage } from "./silent-limits.ts";

/** Everything one request shares. Built once. */
interface Run {
  readonly protocol: Protocol;
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
  /** What to send. Its payload is replaced when a provider refuses a part of it. */
  encoded: EncodedRequest;
  /** What was sent last: the payload, or what `onPayload` made of it. */
  sent: unknown;
  /** What was given up so far, by kind; the second of a kind takes all of them along. */
  readonly givenUp: Map<string, number>;
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

/** Runs a request into `stream`. Whatever happens, the stream ends in `done` or `error`. */
export async function runRequest(
  load: () => Promise<Protocol>,
  request: ProtocolRequest,
  stream: AssistantMessageEventStream,
): Promise<void> {
  const { model, context, clock = systemClock } = request;
  try {
    const protocol = await load();
    const options = request.options(protocol);
    const encoded = protocol.encode(model, context, options);
    await attemptUntilDone({
      protocol,
      model,
      context,
      options,
      encoded,
      sent: encoded.payload,
      givenUp: new Map(),
      limits: resolveLimits(model, options),
      clock,
      random: options.random ?? systemRandom,
      env: (name) => options.env?.[name] ?? platform.env(name),
      stream,
      diagnostics: encoded.notes.map((note) => diagnostic(note, clock)),
    });
  } catch (error) {
    const { message } = new Draft(model, clock.now());
    const failure = error instanceof MissingCredentials ? authFailure(error) : classifyThrown(error);
    stream.push({ type: "error", reason: "error", error: failed(message, failure) });
  }
}

async function attemptUntilDone(run: Run): Promise<void> {
  const { stream, limits, clock } = run;
  const { signal } = run.options;
  noteTransport(run);
  let repairs = 0;
  for (let attempt = 0; ; attempt++) {
    const draft = new Draft(run.model, clock.now());
    const outcome = await attemptOnce(run, draft);
    if (outcome.kind === "done") {
      finish(run, draft);
      return;
    }
    const failure = withoutSecrets(run, outcome.failure);
    if (!outcome.shown && repairs < maxRepairs && repair(run, failure)) {
      repairs++;
      attempt--;
      continue;
    }
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

/** Each repair gives up something that the provider named; more than this is not a request with a few bad parts. */
const maxRepairs = 16;

/** Gives up the part that the provider named, if it named one; the second time, everything of its kind. */
function repair(run: Run, failure: Failure): boolean {
  if (failure.kind !== "invalid_request") return false;
  const degraded = degrade(record(run.sent), failure.message, (kind) => (run.givenUp.get(kind) ?? 0) > 0);
  if (!degraded) return false;
  run.givenUp.set(degraded.kind, (run.givenUp.get(degraded.kind) ?? 0) + 1);
  run.encoded = { ...run.encoded, payload: degraded.payload };
  const message = `${degraded.what} at ${degraded.path}: ${failure.message}`;
  run.diagnostics.push(diagnostic({ type: "degraded", message, details: { path: degraded.path } }, run.clock));
  return true;
}

type AttemptOutcome = { kind: "done" } | { kind: "failed"; failure: Failure; shown: boolean };

/** One attempt. The wall: whatever is thrown on the way becomes a failure. */
async function attemptOnce(run: Run, draft: Draft): Promise<AttemptOutcome> {
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
  const progress: Progress = {
    shown: false,
    onContent: () => deadline.content(),
    onStopped: () => deadline.closing(closingMs),
  };
  try {
    // A hook that hangs must not delay a request that was aborted.
    const outcome = await untilAborted(exchange(run, draft, abort.signal, progress), abort.signal);
    if (outcome.kind === "aborted") throw abort.signal.reason;
    const failure = outcome.value;
    return failure ? { kind: "failed", failure, shown: progress.shown } : { kind: "done" };
  } catch (error) {
    abort.abort();
    // A server that said why it stopped has answered, whether it then left the line open or dropped it.
    const failure =
      draft.state.kind === "stopped" && !signal?.aborted ? draft.state.refusal : toFailure(error, signal, expired);
    return failure ? { kind: "failed", failure, shown: progress.shown } : { kind: "done" };
  } finally {
    deadline.close();
    signal?.removeEventListener("abort", onAbort);
  }
}

function toFailure(error: unknown, signal: AbortSignal | undefined, expired: Failure | undefined): Failure {
  if (signal?.aborted) return abortedFailure;
  if (expired) return expired;
  if (error instanceof MissingCredentials) return authFailure(error);
  return classifyThrown(error);
}

interface Progress {
  /** Whether the reader has seen anything of this attempt; then it cannot be repeated. */
  shown: boolean;
  onContent: () => void;
  /** The provider has said why it stopped. */
  onStopped: () => void;
}

/** How long a server may take to close the connection after it said why it stopped. */
const closingMs = 5_000;

/** Sends the request and reads the answer into the draft. Returns why it failed, if it did. */
async function exchange(run: Run, draft: Draft, signal: AbortSignal, progress: Progress): Promise<Failure | undefined> {
  const request = await buildRequest(run);
  const response = await platform.send(request, { signal, env: run.env });
  await run.options.onResponse?.({ status: response.status, headers: response.headers }, run.model);
  if (response.status < 200 || response.status >= 300) {
    const failure = await responseFailure(run, response);
    response.discard();
    return failure;
  }

  const { protocol, stream } = run;
  const state = protocol.start(draft);
  const take = (frame: Frame) => {
    const events = protocol.step(state, frame);
    for (const event of events) stream.push(event);
    if (events.length > 0) {
      progress.shown = true;
      progress.onContent();
    }
    if (draft.state.kind === "stopped") progress.onStopped();
  };
  const damage = await readFrames(response, protocol.framing, (frame) => {
    // What arrives after the request was given up must not change a message that has been delivered.
    if (signal.aborted) return true;
    take(frame);
    return draft.state.kind === "ended" || draft.state.kind === "failed";
  });
  if (damage) response.cut();
  // Nothing of interest is left to read, and the connection may serve the next request.
  else response.discard();
  if (draft.state.kind === "failed") return draft.state.failure;
  if (draft.state.kind !== "open") return draft.state.refusal;
  return damage ?? { kind: "network", message: "The connection was closed before the model had finished." };
}

async function buildRequest(run: Run): Promise<HttpRequest> {
  const { encoded, model, options } = run;
  // A payload that was repaired has been through the hook before.
  const replaced = run.givenUp.size > 0 ? undefined : await options.onPayload?.(encoded.payload, model);
  run.sent = replaced === undefined ? encoded.payload : replaced;
  const request: HttpRequest = {
    method: "POST",
    url: (run.protocol.baseUrl?.(model, options, run.env) ?? resolveBaseUrl(model, run.env)) + encoded.path,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "user-agent": `tau/${version}`,
      ...encoded.headers,
      ...providerHeaders(model, run.context),
      ...lowerCase(model.headers),
    },
    body: JSON.stringify(run.sent),
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

async function responseFailure(run: Run, response: HttpResponse): Promise<Failure> {
  const body = await readText(response.body, maxErrorBytes);
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

/** Some servers repeat the key that they refuse; whoever shows or stores the failure must not have to know that. */
function withoutSecrets({ options, model, env }: Run, failure: Failure): Failure {
  const headers = [...Object.values(options.headers ?? {}), ...Object.values(model.headers ?? {})];
  const secrets = [options.apiKey ?? envApiKey(model.provider, env), ...headers].filter(
    (value) => typeof value === "string" && value.length >= 8,
  );
  const message = (secrets as string[]).reduce((text, secret) => text.replaceAll(secret, "…"), failure.message);
  return message === failure.message ? failure : { ...failure, message };
}

function finish(run: Run, draft: Draft): void {
  const { message } = draft;
  draft.begin();
  draft.closeAll();
  flush(run, draft);
  const reason = draft.state.kind === "stopped" || draft.state.kind === "ended" ? draft.state.reason : "stop";
  // Some servers report an ordinary stop although they asked for tools, some the reverse; the content decides.
  const hasCalls = message.content.some((block) => block.type === "toolCall");
  message.stopReason = reason === "length" ? "length" : hasCalls ? "toolUse" : "stop";
  for (const note of checkUsage(message, run.model, run.sent)) run.diagnostics.push(diagnostic(note, run.clock));
  attachDiagnostics(message, run.diagnostics);
  run.stream.push({ type: "done", reason: message.stopReason, message });
}

function finishWithFailure(run: Run, draft: Draft, failure: Failure): void {
  draft.abandon();
  flush(run, draft);
  attachDiagnostics(draft.message, run.diagnostics);
  const message = run.protocol.explain?.(failure) ?? failure.message;
  const error = failed(draft.message, { ...failure, message });
  run.stream.push({ type: "error", reason: error.stopReason === "aborted" ? "aborted" : "error", error });
}

function flush(run: Run, draft: Draft): void {
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

function noteTransport(run: Run): void {
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
