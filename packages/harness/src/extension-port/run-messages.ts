/** Messages that extensions add to the runs of a session. */
import type { AgentMessage } from "@tau/agent";
import { getErrorMessage } from "@tau/ai/internal";
import { toCustomMessage } from "@tau/extensions/internal";
import type { SessionExtensions } from "@tau/extensions";
import { applyBoundary } from "../run/boundary.ts";
import type { RunHost } from "../run/run-host.ts";
import type { PortTools } from "./port-session.ts";

interface RunMessagesParts {
  getExtensions: () => SessionExtensions | undefined;
  tools: PortTools;
  host: RunHost;
  /** Adds a notice for the user. */
  notice: (code: string, message: string) => void;
}

export class RunMessages {
  readonly #parts: RunMessagesParts;

  constructor(parts: RunMessagesParts) {
    this.#parts = parts;
  }

  /** Returns what a run begins with instead of `prompts`. */
  async beforeRun(prompts: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { getExtensions, tools, host } = this.#parts;
    const extensions = getExtensions();
    if (!extensions) return prompts;
    const { beforeRun } = await import("./before-run.ts");
    return await beforeRun(prompts, { extensions, tools, clock: host.clock });
  }

  /** Returns messages that came too late for a run. Without one to follow, they are in the log for the next prompt. */
  async takeSent(mayContinue: boolean): Promise<readonly AgentMessage[]> {
    const { getExtensions, host, notice } = this.#parts;
    const left = await getExtensions()?.takeLeft();
    if (!left || left.drafts.length === 0) return [];
    const { drafts, triggersTurn } = left;
    if (triggersTurn && mayContinue) return drafts.map((draft) => toCustomMessage(draft, host.clock.now()));
    const entries = drafts.map((draft) => ({ type: "custom_message" as const, ...draft }));
    await applyBoundary(host, { entries }).catch((error: unknown) => {
      notice("not_remembered", `Messages of extensions could not be kept: ${getErrorMessage(error)}`);
    });
    return [];
  }
}
