/** Runs the agent until nothing is left to retry or to compact. */
import type { Agent } from "@tau/agent";
import type { Listeners } from "@tau/ai/internal";
import type { CompactionResult } from "@tau/pi/internal";
import type { Activity } from "./activity.ts";
import type { Compactor } from "./compactor.ts";
import type { CurrentRunner } from "./current-runner.ts";
import { getLastAnswer, type Recovery } from "./recovery.ts";
import type { AgentSessionEvent } from "./types.ts";

interface RunParts {
  agent: Agent;
  extensions: CurrentRunner;
  activity: Activity;
  recovery: Recovery;
  compactor: Compactor;
  listeners: Listeners<AgentSessionEvent>;
}

export class Runs {
  readonly #parts: RunParts;
  #current: Promise<void> | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** False until a run, its retries and what follows them have ended. */
  get isIdle(): boolean {
    return this.#current === undefined && !this.#parts.agent.state.isStreaming;
  }

  async waitForIdle(): Promise<void> {
    await Promise.allSettled([this.#current, this.#parts.agent.waitForIdle()]);
  }

  async abort(): Promise<void> {
    const { activity, agent } = this.#parts;
    activity.abort("retrying");
    agent.abort();
    await agent.waitForIdle();
  }

  /** Aborts the run in progress and compacts the context. */
  async compact(customInstructions: string | undefined): Promise<CompactionResult> {
    await this.abort();
    return await this.#parts.compactor.compact(customInstructions);
  }

  /** Resolves when the run, its retries and what follows them have ended. */
  async run(start: () => Promise<void>): Promise<void> {
    const run = this.#runToEnd(start);
    this.#current = run;
    try {
      await run;
    } finally {
      if (this.#current === run) await this.#settle();
    }
  }

  async #runToEnd(start: () => Promise<void>): Promise<void> {
    const { agent, recovery } = this.#parts;
    await start();
    while (await recovery.recover()) await agent.continue();
  }

  async #settle(): Promise<void> {
    const { agent, extensions, listeners } = this.#parts;
    this.#current = undefined;
    const settled = { type: "agent_settled", aborted: getLastAnswer(agent)?.stopReason === "aborted" } as const;
    await extensions.runner.emit(settled);
    listeners.emit(settled);
  }
}
