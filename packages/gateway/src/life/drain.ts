/** Waiting for what is running before the gateway stops. */
import type { Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { type GatewayMethod, methodScopes } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";

export interface DrainOptions {
  /** Default 30 s. */
  maxMs?: number;
  /** Ends the waiting at once. */
  signal?: AbortSignal;
}

const defaultMaxMs = 30_000;
const lookMs = 100;

/** Resolves when no session is running, when it took too long, or when the signal says so. Returns how many still run. */
export async function waitForRuns(
  { sessions, clock }: { sessions: Pick<OpenSessions, "list">; clock: Clock },
  { maxMs = defaultMaxMs, signal }: DrainOptions,
): Promise<number> {
  const deadlineMs = clock.monotonic() + maxMs;
  for (;;) {
    const running = sessions.list().filter(({ status }) => status === "running").length;
    if (running === 0 || signal?.aborted || clock.monotonic() >= deadlineMs) return running;
    await sleep(clock, lookMs, signal);
  }
}

/** Methods that still work while the gateway stops, besides those that only read or answer: they end work, or begin none. */
const endingMethods: readonly GatewayMethod[] = ["session.abort", "agent.interrupt", "sessions.close"];

/** Whether a method may begin work. Pure. */
export const mayBeginWork = (method: string): boolean => {
  const scope = methodScopes[method as GatewayMethod];
  return (scope === "write" || scope === "admin") && !endingMethods.includes(method as GatewayMethod);
};

export const createStoppingError = (): GatewayError =>
  new GatewayError("unavailable", "The gateway stops and begins nothing new. Try again when it runs.");
