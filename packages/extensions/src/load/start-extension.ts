/** Runs the factory of one extension in this process. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import type { ToolLogLevel } from "@tau/tools";
import type { EventBus, ExtensionFactory } from "../api/api.ts";
import { type ApiParts, createApi } from "../runner/create-api.ts";
import { createLifetime, type Lifetime } from "../runner/create-context.ts";
import { createRegistrations, type Extension, type ExtensionSource } from "../api/extension.ts";
import { createOwnSessionGetter } from "../session/own-session.ts";
import { processResources, type SharedResources } from "../runner/shared-resources.ts";
import { createWaits } from "../runner/waits.ts";
import { describeFactoryError } from "./load-error.ts";
import type { ModuleGlobals } from "./module-globals.ts";

/** How long a factory may take. */
export const maxFactoryMs = 10_000;

export const describeSlowFactory = ({ name }: ExtensionSource): string =>
  `It was not loaded after ${maxFactoryMs / 1_000} seconds. Long work belongs in a handler of session_start. To turn it off: tau extensions kill ${name}`;

export interface StartParts extends Omit<ApiParts, "registrations" | "report" | "shared" | "onEnd" | "log"> {
  clock: Clock;
  /** Default: the resources of this process. */
  resources?: SharedResources;
  report: ApiParts["report"];
  /** Writes into the debug log. Default: nothing is written. */
  log?: (extension: string, level: ToolLogLevel, message: string) => void;
  /** The timers of the extension's code; closed with it. */
  globals?: ModuleGlobals;
}

type StartOutcome = { kind: "started"; extension: Extension } | { kind: "failed"; message: string };

/** A factory that fails or takes too long leaves nothing: neither registrations nor timers, and its API works no more. */
export async function startExtension(
  source: ExtensionSource,
  factory: ExtensionFactory,
  { clock, globals, resources = processResources, ...parts }: StartParts,
): Promise<StartOutcome> {
  const registrations = createRegistrations();
  const waits = createWaits(clock);
  const own = createLifetime();
  const bus = createOwnBus(parts.events);
  const user = {};
  const owned = createOwned();
  const close = async (why: string): Promise<void> => {
    own.end(why);
    bus.close();
    globals?.close();
    await owned.close();
    await resources.release(user, clock);
  };
  const abandon = (why: string): Promise<void> =>
    close(why).catch((error: unknown) => parts.report(getErrorMessage(error)));
  const lifetime: Lifetime = {
    check() {
      own.check();
      parts.lifetime.check();
    },
    end: (why) => own.end(why),
  };
  const getSession = createOwnSessionGetter(parts.getSession, waits);
  const shared: ApiParts["shared"] = (key, open) => resources.acquire(`${source.id}: ${key}`, user, open);
  const log: ApiParts["log"] = (level, message) => parts.log?.(source.name, level, message);
  const api = createApi({ ...parts, getSession, registrations, lifetime, events: bus, shared, onEnd: owned.add, log });
  try {
    const work: unknown = factory(api);
    const outcome = isPromise(work) ? await untilTimeout(work, maxFactoryMs, clock) : ({ kind: "done" } as const);
    if (outcome.kind === "done") {
      const end = (): Promise<void> => close("the extension was closed.");
      return {
        kind: "started",
        extension: { ...registrations, source, state: "trusted", host: "process", waits, close: end },
      };
    }
    await abandon("the extension took too long to load.");
    return { kind: "failed", message: describeSlowFactory(source) };
  } catch (error) {
    await abandon("the extension failed to load.");
    const place = { path: source.path, root: source.info.baseDir ?? source.path };
    return { kind: "failed", message: describeFactoryError(error, place) };
  }
}

/** The programs and children of one extension. One that is started while the extension ends is ended too. */
function createOwned() {
  const ends = new Set<() => Promise<void>>();
  let isClosed = false;
  return {
    add(end: () => Promise<void>): () => void {
      if (isClosed) void end().catch(() => {});
      else ends.add(end);
      return () => void ends.delete(end);
    },
    async close(): Promise<void> {
      isClosed = true;
      await Promise.allSettled([...ends].map((end) => end()));
    },
  };
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

/** Remembers the listeners of one extension, so that they end with it. */
function createOwnBus(events: EventBus): EventBus & { close(): void } {
  const removals = new Set<() => void>();
  return {
    emit: (channel, data) => events.emit(channel, data),
    on(channel, handler) {
      const remove = events.on(channel, handler);
      const removeOnce = (): void => {
        removals.delete(removeOnce);
        remove();
      };
      removals.add(removeOnce);
      return removeOnce;
    },
    close() {
      for (const remove of removals) remove();
    },
  };
}
