/**
 * Runs one request, from context to events. Everything that protocols do not handle is here or called from here: sending,
 * framing, time limits, retries, and turning every error into the stream's last event.
 */
import { platform } from "#platform";
import { type Clock, sleep, systemClock, systemRandom } from "../clock.ts";
import type { AssistantMessageEventStream } from "../event-stream.ts";
import { classifyThrown, type Failure } from "../failure.ts";
import { followSignal } from "../internal/follow-signal.ts";
import type { AssistantMessage, AssistantMessageDiagnostic } from "../message.ts";
import type { Model } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import { getTarget, type Target } from "../connection-failure.ts";
import type { Env } from "../platform/platform.ts";
import { isLocalServer } from "../providers/local-address.ts";
import { Deadline, type Expiry } from "../transport/deadline.ts";
import type { HttpRequest, HttpResponse } from "../transport/http.ts";
import { getRetryDelay } from "../transport/retry.ts";
import { degrade } from "./degrade.ts";
import { Draft } from "./draft.ts";
import { readFrames } from "./frames.ts";
import { type EncodeNote, type Frame, MissingCredentials, type Protocol, type ProtocolRequest } from "./protocol.ts";
import { buildRequest, readFailure, removeSecrets, withProviderFacts } from "./http-exchange.ts";
import type { Limits, Run } from "./run-state.ts";
import { asRecord } from "../json.ts";
import { checkUsage } from "./silent-limits.ts";

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

const certificateVariables: ReadonlySet<string> = new Set(["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]);

/** Runs a request and writes its events to `stream`, which always ends with `done` or `error`. */
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
    const { env: own = {}, ambientCredentials = true } = options;
    const ambientEnv: Env = (name) => own[name] ?? platform.env(name);
    // Whom this machine trusts is no secret, and a request for somebody else needs it too.
    const apartEnv: Env = (name) => own[name] ?? (certificateVariables.has(name) ? platform.env(name) : undefined);
    await attemptUntilDone({
      protocol,
      model,
      context,
      options,
      encoded,
      sent: encoded.payload,
      sentLength: 0,
      degradedKinds: new Set(),
      limits: resolveLimits(model, options),
      clock,
      random: options.random ?? systemRandom,
      env: ambientCredentials ? ambientEnv : (name) => own[name],
      networkEnv: ambientCredentials ? ambientEnv : apartEnv,
      stream,
      diagnostics: encoded.notes.map((note) => toDiagnostic(note, clock)),
    });
  } catch (error) {
    const { message } = new Draft(model, clock.now());
    const failure = error instanceof MissingCredentials ? toAuthFailure(error) : classifyThrown(error);
    stream.push({ type: "error", reason: "error", error: markFailed(message, failure) });
  }
}

async function attemptUntilDone(run: Run): Promise<void> {
  const { stream, limits, clock } = run;
  const { signal } = run.options;
  let repairs = 0;
  for (let attempt = 0; ; attempt++) {
    const draft = new Draft(run.model, clock.now());
    const outcome = await attemptOnce(run, draft);
    if (outcome.kind === "done") {
      finish(run, draft);
      return;
    }
    const failure = withProviderFacts(run, removeSecrets(run, outcome.failure));
    if (!outcome.hasEmitted && repairs < maxRepairs && repairPayload(run, failure)) {
      repairs++;
      attempt--;
      continue;
    }
    const afterMs = outcome.hasEmitted ? undefined : getRetryDelay(failure, attempt, limits, run.random);
    if (afterMs === undefined) {
      finishWithFailure(run, draft, failure);
      return;
    }
    const note = { type: "retried", message: failure.message, details: { kind: failure.kind, attempt, afterMs } };
    run.diagnostics.push(toDiagnostic(note, clock));
    if ((await sleep(clock, afterMs, signal)) === "aborted") {
      finishWithFailure(run, draft, abortedFailure);
      return;
    }
    if (stream.ended) return;
  }
}

/** Each repair removes one part and costs one request, so the number of repairs is limited. */
const maxRepairs = 16;

/**
 * Removes the part of the payload that the provider rejected, if its error names one. The second time, removes all parts
 * of that kind.
 */
function repairPayload(run: Run, failure: Failure): boolean {
  if (failure.kind !== "invalid_request") return false;
  const degraded = degrade(asRecord(run.sent), failure.message, (kind) => run.degradedKinds.has(kind));
  if (!degraded) return false;
  run.degradedKinds.add(degraded.kind);
  run.encoded = { ...run.encoded, payload: degraded.payload };
  const message = `${degraded.description} at ${degraded.path}: ${failure.message}`;
  run.diagnostics.push(toDiagnostic({ type: "degraded", message, details: { path: degraded.path } }, run.clock));
  return true;
}

/** `hasEmitted`: whether the attempt emitted an event. If so, it cannot be repeated. */
type AttemptOutcome = { kind: "done" } | { kind: "failed"; failure: Failure; hasEmitted: boolean };

/** Makes one attempt. Whatever is thrown becomes a failure. */
async function attemptOnce(run: Run, draft: Draft): Promise<AttemptOutcome> {
  const { signal } = run.options;
  const abort = new AbortController();
  if (signal?.aborted) return { kind: "failed", failure: abortedFailure, hasEmitted: false };
  const stop = followSignal(signal, (reason) => abort.abort(reason));
  let expired: Failure | undefined;
  const deadline = new Deadline(run.clock, run.limits, (expiry) => {
    expired = createTimeoutFailure(run.model, expiry);
    abort.abort(expired);
  });
  const progress: Progress = {
    hasEmitted: false,
    onErrorStatus: () => deadline.close(),
    onContent: () => deadline.content(),
    onStopped: (withinMs) => deadline.expectEnd(withinMs),
  };
  try {
    const failure = await withAbort(() => exchange(run, draft, abort.signal, progress), abort.signal);
    return failure ? { kind: "failed", failure, hasEmitted: progress.hasEmitted } : { kind: "done" };
  } catch (error) {
    abort.abort();
    // After a stop reason the answer is complete, even if the server then drops the connection or leaves it open.
    const { target } = progress;
    const failure =
      draft.state.kind === "stopped" && !signal?.aborted
        ? draft.state.refusal
        : toFailure(error, signal, { expired, target });
    return failure ? { kind: "failed", failure, hasEmitted: progress.hasEmitted } : { kind: "done" };
  } finally {
    deadline.close();
    stop();
  }
}

/** Settles with `start()`, or rejects as soon as `signal` aborts, so that a hook that hangs cannot block an abort. */
function withAbort<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // Added before `start()`, whose first hook may abort the signal.
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    start().then(resolve, reject);
  });
}

function toFailure(
  error: unknown,
  signal: AbortSignal | undefined,
  { expired, target }: { expired: Failure | undefined; target: Target | undefined },
): Failure {
  if (signal?.aborted) return abortedFailure;
  if (expired) return expired;
  if (error instanceof MissingCredentials) return toAuthFailure(error);
  return classifyThrown(error, target);
}

interface Progress {
  /** Where the request was sent. */
  target?: Target | undefined;
  hasEmitted: boolean;
  /** Called when the status says that the request failed. Reading the explanation has a time limit of its own. */
  onErrorStatus: () => void;
  onContent: () => void;
  /** Called when the provider has sent its stop reason and nothing seems to be missing. */
  onStopped: (withinMs: number) => void;
}

/** How long a server may take to close the connection after it has sent its stop reason. */
const closingMs = 5_000;
/** The limit after a stop reason that came with content: some servers send one with every piece, so more may come. */
const pausedMs = 30_000;

/** Sends the request and reads the answer into the draft. Returns the failure, if there is one. */
async function exchange(run: Run, draft: Draft, signal: AbortSignal, progress: Progress): Promise<Failure | undefined> {
  const request = await buildRequest(run);
  const overflow = findOverflow(run.model, request.body);
  if (overflow) return overflow;
  progress.target = getTarget(request.url, run.networkEnv);
  const response =
    (await sendOverSocket(run, request, signal)) ?? (await platform.send(request, { signal, env: run.networkEnv }));
  await run.options.onResponse?.({ status: response.status, headers: response.headers }, run.model);
  if (response.status < 200 || response.status >= 300) {
    progress.onErrorStatus();
    const failure = await readFailure(run, response);
    response.discard();
    return failure;
  }

  const { protocol, stream } = run;
  const state = protocol.start(draft);
  const processFrame = (frame: Frame) => {
    run.options.onProviderStreamEvent?.(frame.data, run.model);
    const events = protocol.step(state, frame);
    for (const event of events) stream.push(event);
    if (events.length > 0) {
      progress.hasEmitted = true;
      progress.onContent();
    }
    if (draft.state.kind === "stopped" && draft.message.content.length > 0) {
      progress.onStopped(events.length > 0 ? pausedMs : closingMs);
    }
  };
  const damage = await readFrames(response, protocol.framing, (frame) => {
    // After an abort the message has been delivered and must not change.
    if (signal.aborted) return true;
    processFrame(frame);
    return draft.state.kind === "ended" || draft.state.kind === "failed";
  });
  if (damage) response.cut();
  // Reading the body to its end lets the connection be reused.
  else response.discard();
  if (!damage && draft.state.kind === "open") for (const event of protocol.finish?.(state) ?? []) stream.push(event);
  if (draft.state.kind === "failed") return draft.state.failure;
  if (draft.state.kind !== "open") return draft.state.refusal;
  return damage ?? { kind: "network", message: "The connection was closed before the model had finished." };
}

/** The failure of a request that is longer than the provider accepts. */
function findOverflow({ id, inputLimits }: Model, body: string): Failure | undefined {
  const { maxRequestBytes = Number.POSITIVE_INFINITY } = inputLimits ?? {};
  // A UTF-16 unit has at most three bytes; counting them is seldom needed.
  if (body.length * 3 <= maxRequestBytes) return undefined;
  const bytes = new TextEncoder().encode(body).length;
  if (bytes <= maxRequestBytes) return undefined;
  const limit = `${maxRequestBytes.toLocaleString("en")} bytes`;
  const message = `The request has ${bytes.toLocaleString("en")} bytes, and ${id} accepts at most ${limit}.`;
  return { kind: "context_overflow", message };
}

function finish(run: Run, draft: Draft): void {
  const { message } = draft;
  draft.begin();
  draft.closeAll();
  flush(run, draft);
  const reason = draft.state.kind === "stopped" || draft.state.kind === "ended" ? draft.state.reason : "stop";
  // Some servers report a normal stop although there are tool calls, some the reverse, so the content decides.
  const hasCalls = message.content.some((block) => block.type === "toolCall");
  message.stopReason = reason === "length" ? "length" : hasCalls ? "toolUse" : "stop";
  const notes = checkUsage(message, run.model, { payload: run.sent, length: run.sentLength });
  for (const note of notes) run.diagnostics.push(toDiagnostic(note, run.clock));
  attachDiagnostics(message, run.diagnostics);
  run.stream.push({ type: "done", reason: message.stopReason, message });
}

function finishWithFailure(run: Run, draft: Draft, failure: Failure): void {
  draft.abandon();
  flush(run, draft);
  attachDiagnostics(draft.message, run.diagnostics);
  const message = run.protocol.explain?.(failure) ?? failure.message;
  const error = markFailed(draft.message, { ...failure, message });
  run.stream.push({ type: "error", reason: error.stopReason === "aborted" ? "aborted" : "error", error });
}

function flush(run: Run, draft: Draft): void {
  for (const event of draft.take()) run.stream.push(event);
}

/** Changes `message` in place and returns it. */
function markFailed(message: AssistantMessage, failure: Failure): AssistantMessage {
  message.stopReason = failure.kind === "aborted" ? "aborted" : "error";
  message.errorMessage = failure.message;
  message.failure = failure;
  return message;
}

function attachDiagnostics(message: AssistantMessage, diagnostics: AssistantMessageDiagnostic[]): void {
  if (diagnostics.length > 0) message.diagnostics = diagnostics;
}

const toDiagnostic = (note: EncodeNote, clock: Clock): AssistantMessageDiagnostic => ({
  type: note.type,
  timestamp: clock.now(),
  error: { message: note.message },
  ...(note.details && { details: note.details }),
});

/** Undefined if the request has to be sent over HTTP. */
async function sendOverSocket(run: Run, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse | undefined> {
  const { transport, sessionId } = run.options;
  if (transport !== "websocket" && transport !== "websocket-cached") return undefined;
  const answer = (await run.protocol.sendOverSocket?.(request, {
    payload: run.sent,
    isKept: transport === "websocket-cached",
    sessionId,
    signal,
    env: run.networkEnv,
    clock: run.clock,
  })) ?? { kind: "unavailable", reason: `${run.model.api} has none` };
  if (answer.kind === "answer") return answer.response;
  const message = `The WebSocket is not available (${answer.reason}); the request used server-sent events.`;
  const note = { type: "transport_fallback", message, details: { transport } };
  if (!run.diagnostics.some(({ type }) => type === note.type)) run.diagnostics.push(toDiagnostic(note, run.clock));
  return undefined;
}

const abortedFailure: Failure = { kind: "aborted", message: "The request was aborted." };

const toAuthFailure = (error: MissingCredentials): Failure => ({ kind: "auth", message: error.message });

function createTimeoutFailure({ baseUrl }: Model, { limit, limitMs }: Expiry): Failure {
  const seconds = `${Math.round(limitMs / 1_000)} s`;
  const message =
    limit === "total"
      ? `The answer was not complete after ${seconds}.`
      : `The provider sent no content for ${seconds}.${limit === "first" && isLocalServer(baseUrl) ? slowStart : ""}`;
  return { kind: "idle_timeout", message, limitMs };
}

const slowStart =
  " A local server may need minutes to load a model and to read a long prompt: allow it more time with the setting httpIdleTimeoutMs (the option idleTimeoutMs).";
