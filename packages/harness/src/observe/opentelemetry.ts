/**
 * Runs as OpenTelemetry spans, for programs that have set up an SDK. Without one nothing is loaded: the SDK registers
 * itself under a well-known symbol, and only when it is there the API, an optional peer dependency, is imported.
 */
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Span, SpanKind, Tracer as SdkTracer } from "@opentelemetry/api";
import {
  addUsage,
  answerAttributes,
  type Attributes,
  endAttributes,
  errorOfAnswer,
  errorOfRun,
  requestAttributes,
  requestName,
  retryAttributes,
  runAttributes,
  runName,
  toolAttributes,
  toolName,
  usageAttributes,
} from "./attributes.ts";
import type { RunSpan, Tracer } from "./trace.ts";
import { createWall, type Wall } from "./wall.ts";

type Api = typeof OpenTelemetry;

/**
 * Undefined when tracing is off, when no SDK has registered a provider of tracers in this process before the call, or
 * when the API cannot be imported.
 */
export async function findTracer(options: { enabled: boolean }): Promise<Tracer | undefined> {
  if (!options.enabled || !createWall().run(isSdkThere)) return undefined;
  const api = await loadApi();
  if (!api) return undefined;
  // An SDK hears of its own troubles where it tells them itself.
  const wall = createWall((error) => api.diag.error("tau: a call to the tracing SDK failed", error));
  const sdk = wall.run(() => api.trace.getTracer("@tau/harness"));
  return sdk && createTracer({ api, sdk, wall });
}

function isSdkThere(): boolean {
  const registered: unknown = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1"));
  return typeof registered === "object" && registered !== null && "trace" in registered && !!registered.trace;
}

async function loadApi(): Promise<Api | undefined> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    // Not installed where we can find it, or broken: then there are no spans, and that is all.
    void error;
    return undefined;
  }
}

interface Ports {
  readonly api: Api;
  readonly sdk: SdkTracer;
  readonly wall: Wall;
}

/** What a span is when it starts. */
interface Start {
  name: string;
  attributes: Attributes;
}

/** A span that may not be there, and is ended once. */
interface OpenSpan {
  readonly span: Span | undefined;
  /** With `error`, the span's status says that it failed, and `error.type` for what. */
  end(attributes: Attributes, error: string | undefined): void;
}

const createTracer = (ports: Ports): Tracer => ({
  run({ sessionId, agentName = "tau", model }) {
    const { api, wall } = ports;
    const above = wall.run(() => api.context.active());
    const run = openSpan(ports, above, api.SpanKind.INTERNAL, () => ({
      name: runName(agentName),
      attributes: runAttributes({ sessionId, agentName, model }),
    }));
    const below = wall.run(() => run.span && api.trace.setSpan(above ?? api.ROOT_CONTEXT, run.span)) ?? above;
    return createRunSpan({ ...ports, run, below, sessionId });
  },
});

interface RunPorts extends Ports {
  readonly run: OpenSpan;
  /** The context in which the run's span is the active one. */
  readonly below: Context | undefined;
  readonly sessionId: string;
}

function createRunSpan({ run, below, sessionId, ...ports }: RunPorts): RunSpan {
  const { api, wall } = ports;
  const open = new Set<OpenSpan>();
  const totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let lastError: string | undefined;

  const openBelow = (kind: SpanKind, start: () => Start) => {
    const span = openSpan(ports, below, kind, start);
    open.add(span);
    return span;
  };

  return {
    request(model) {
      const request = openBelow(api.SpanKind.CLIENT, () => ({
        name: requestName(model),
        attributes: requestAttributes(model, sessionId),
      }));
      return {
        end(answer) {
          if (!open.delete(request)) return;
          lastError = errorOfAnswer(answer);
          // A provider of somebody else's may leave out what it must give.
          const attributes = wall.run(() => {
            addUsage(totals, answer.usage);
            return answerAttributes(answer);
          });
          request.end(attributes ?? {}, lastError);
        },
      };
    },
    tool(call) {
      const tool = openBelow(api.SpanKind.INTERNAL, () => ({
        name: toolName(call.name),
        attributes: toolAttributes(call, sessionId),
      }));
      return {
        end({ isError }) {
          if (open.delete(tool)) tool.end({}, isError ? "tool_error" : undefined);
        },
      };
    },
    retry(attempt, delayMs, failure) {
      wall.run(() => run.span?.addEvent("tau.retry", retryAttributes(attempt, delayMs, failure)));
    },
    within: (work) => within(ports, below, work),
    end(reason, detail) {
      // A span that is not ended is never seen.
      for (const span of open) span.end({}, "unfinished");
      open.clear();
      run.end({ ...endAttributes(reason, detail), ...usageAttributes(totals) }, errorOfRun(reason, lastError));
    },
  };
}

function openSpan({ api, sdk, wall }: Ports, above: Context | undefined, kind: SpanKind, start: () => Start): OpenSpan {
  const span = wall.run(() => {
    const { name, attributes } = start();
    return sdk.startSpan(name, { kind, attributes }, above);
  });
  let isOpen = true;
  return {
    span,
    end(attributes, error) {
      if (!isOpen) return;
      isOpen = false;
      wall.run(() => span?.setAttributes(error === undefined ? attributes : { ...attributes, "error.type": error }));
      if (error !== undefined) wall.run(() => span?.setStatus({ code: api.SpanStatusCode.ERROR }));
      wall.run(() => span?.end());
    },
  };
}

/** Does the work exactly once, and gives what it gives, whatever an SDK does with it. */
function within<T>({ api, wall }: Ports, context: Context | undefined, work: () => T): T {
  const held: { outcome?: () => T } = {};
  let isStarted = false;
  const once = () => {
    if (isStarted) return;
    isStarted = true;
    try {
      const value = work();
      held.outcome = () => value;
    } catch (error) {
      held.outcome = () => {
        throw error;
      };
    }
  };
  if (context) wall.run(() => api.context.with(context, once));
  once();
  return held.outcome!();
}
