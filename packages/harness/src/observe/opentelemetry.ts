/**
 * Reports runs as OpenTelemetry spans and metrics, for programs that have set up an SDK. An SDK registers itself under a well-known
 * symbol; only then the API, an optional peer dependency, is imported.
 */
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Span, SpanKind, Tracer as SdkTracer } from "@opentelemetry/api";
import {
  addToTotals,
  answerAttributes,
  type Attributes,
  endAttributes,
  getAnswerError,
  getRunError,
  retryAttributes,
  startRequest,
  startRun,
  startTool,
  usageAttributes,
} from "./attributes.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { RunSpan, Tracer } from "./trace.ts";
import { type Attempt, createAttempt } from "./attempt.ts";

type Api = typeof OpenTelemetry;

/**
 * Undefined if it is off, if no SDK has registered a tracer or meter provider in this process before the call, or if the API
 * cannot be imported.
 */
export async function findTracer(options: {
  enabled: boolean;
  /** Removes keys from names and attributes, which servers and models choose. Default: nothing is removed. */
  redact?: (text: string) => string;
}): Promise<Tracer | undefined> {
  if (!options.enabled || !createAttempt()(isSdkRegistered)) return undefined;
  const api = await loadApi();
  if (!api) return undefined;
  // Failures of an SDK are reported in the log of OpenTelemetry.
  const attempt = createAttempt((error) => api.diag.error("tau: a call to the tracing SDK failed", error));
  const { redact = (text) => text } = options;
  const sdk = attempt(() => api.trace.getTracer("@tau/harness"));
  const metrics = attempt(() => createMetrics({ meter: api.metrics.getMeter("@tau/harness"), attempt, redact }));
  return sdk && metrics && createTracer({ api, sdk, attempt, redact, metrics });
}

function isSdkRegistered(): boolean {
  const registered: unknown = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1"));
  if (typeof registered !== "object" || registered === null) return false;
  const { trace, metrics } = registered as { trace?: unknown; metrics?: unknown };
  return Boolean(trace) || Boolean(metrics);
}

async function loadApi(): Promise<Api | undefined> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    // It is not installed, or broken: then there are no spans.
    void error;
    return undefined;
  }
}

interface Ports {
  readonly api: Api;
  readonly sdk: SdkTracer;
  readonly attempt: Attempt;
  readonly redact: (text: string) => string;
  readonly metrics: Metrics;
}

/** It is called inside of an attempt, since a model or a call of others may lack fields. */
type SpanStart = () => ReturnType<typeof startRun>;

/** A span that is ended once. It may be undefined. */
interface OpenSpan {
  readonly span: Span | undefined;
  /** With `error`, the status of the span is an error, and `error.type` is set. */
  end(attributes: Attributes, error: string | undefined): void;
}

const createTracer = (ports: Ports): Tracer => ({
  metrics: ports.metrics,
  run({ sessionId, agentName = "tau", model }) {
    const { api, attempt } = ports;
    const parent = attempt(() => api.context.active());
    const run = openSpan(ports, parent, api.SpanKind.INTERNAL, () => startRun({ sessionId, agentName, model }));
    const inner = attempt(() => run.span && api.trace.setSpan(parent ?? api.ROOT_CONTEXT, run.span)) ?? parent;
    return createRunSpan({ ...ports, run, inner, sessionId });
  },
});

interface RunPorts extends Ports {
  readonly run: OpenSpan;
  /** The context in which the span of the run is active. */
  readonly inner: Context | undefined;
  readonly sessionId: string;
}

function createRunSpan({ run, inner, sessionId, ...ports }: RunPorts): RunSpan {
  const { api, attempt } = ports;
  const open = new Set<OpenSpan>();
  const totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let lastError: string | undefined;

  /** The contexts in which the spans of open calls are active. */
  const calls = new Map<string, Context | undefined>();

  const openInner = (kind: SpanKind, start: SpanStart, parent = inner) => {
    const span = openSpan(ports, parent, kind, start);
    open.add(span);
    return span;
  };

  return {
    request(model) {
      const request = openInner(api.SpanKind.CLIENT, () => startRequest(model, sessionId));
      return {
        end(answer) {
          if (!open.delete(request)) return;
          lastError = getAnswerError(answer);
          // A custom provider may leave out required fields.
          const attributes = attempt(() => {
            addToTotals(totals, answer.usage);
            return answerAttributes(answer);
          });
          request.end(attributes ?? {}, lastError);
        },
      };
    },
    tool(call) {
      const { id, parentId } = call;
      const parent = (parentId === undefined ? undefined : calls.get(parentId)) ?? inner;
      const tool = openInner(api.SpanKind.INTERNAL, () => startTool(call, sessionId), parent);
      calls.set(
        id,
        attempt(() => tool.span && api.trace.setSpan(parent ?? api.ROOT_CONTEXT, tool.span)),
      );
      return {
        end({ isError, errorCode }) {
          calls.delete(id);
          if (!open.delete(tool)) return;
          ports.metrics.countCall(call.name, isError ? (errorCode === "denied" ? "denied" : "failed") : "ok");
          tool.end({}, isError ? "tool_error" : undefined);
        },
      };
    },
    retry(attempt, delayMs, failure) {
      ports.attempt(() => run.span?.addEvent("tau.retry", retryAttributes(attempt, delayMs, failure)));
    },
    within: (work) => within(ports, inner, work),
    withinTool: (callId, work) => within(ports, calls.get(callId) ?? inner, work),
    end(reason, detail) {
      // A span that is not ended is never exported.
      for (const span of open) span.end({}, "unfinished");
      open.clear();
      run.end({ ...endAttributes(reason, detail), ...usageAttributes(totals) }, getRunError(reason, lastError));
    },
  };
}

function openSpan(
  { api, sdk, attempt, redact }: Ports,
  parent: Context | undefined,
  kind: SpanKind,
  start: SpanStart,
): OpenSpan {
  const clean = (attributes: Attributes): Attributes =>
    Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, redactValue(value, redact)]));
  const span = attempt(() => {
    const { name, attributes } = start();
    return sdk.startSpan(redact(name), { kind, attributes: clean(attributes) }, parent);
  });
  let isOpen = true;
  return {
    span,
    end(attributes, error) {
      if (!isOpen) return;
      isOpen = false;
      attempt(() =>
        span?.setAttributes(clean(error === undefined ? attributes : { ...attributes, "error.type": error })),
      );
      if (error !== undefined) attempt(() => span?.setStatus({ code: api.SpanStatusCode.ERROR }));
      attempt(() => span?.end());
    },
  };
}

function redactValue(value: Attributes[string], redact: (text: string) => string): Attributes[string] {
  if (Array.isArray(value)) return value.map(redact);
  return typeof value === "string" ? redact(value) : value;
}

/** Runs the work exactly once and returns its result, whatever the SDK does. */
function within<T>({ api, attempt }: Ports, context: Context | undefined, work: () => T): T {
  const result: { get?: () => T } = {};
  let isStarted = false;
  const runOnce = () => {
    if (isStarted) return;
    isStarted = true;
    try {
      const value = work();
      result.get = () => value;
    } catch (error) {
      result.get = () => {
        throw error;
      };
    }
  };
  if (context) attempt(() => api.context.with(context, runOnce));
  runOnce();
  return result.get!();
}
