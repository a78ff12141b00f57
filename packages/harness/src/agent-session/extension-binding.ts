/** Connects a session with its extensions: what they can do with it, and what they add to its runs. */
import type { AgentMessage } from "@tau/agent";
import { getErrorMessage } from "@tau/ai/internal";
import { toCustomMessage } from "@tau/extensions/internal";
import type { SessionExtensions } from "@tau/extensions";
import { applyBoundary } from "../run/boundary.ts";
import type { RunHost } from "../run/run-host.ts";
import type { Activity } from "./activity.ts";
import type { AgentSession } from "./agent-session.ts";
import type { Choices } from "./choices.ts";

export interface ExtensionBindingParts {
  session: AgentSession;
  choices: Choices;
  activity: Activity;
  host: RunHost;
}

export class ExtensionBinding {
  readonly #parts: ExtensionBindingParts;

  constructor(parts: ExtensionBindingParts) {
    this.#parts = parts;
  }

  /** Lets extensions use the session. What that takes is loaded late, because most sessions have none. */
  async bind(extensions: SessionExtensions): Promise<void> {
    const { session, host, choices } = this.#parts;
    const { sessionManager, modelRegistry: registry, authStorage: auth } = session;
    const { createSessionMirror } = await import("../session/session-mirror.ts");
    const { createExtensionPort } = await import("./extension-port.ts");
    const reader = await createSessionMirror(sessionManager);
    const { createModelAccess } = await import("@tau/extensions/open");
    const models = await createModelAccess({ registry, auth, request: host.ask, providers: extensions.providers });
    const port = createExtensionPort({ ...this.#parts, extensions, reader, models, clock: host.clock });
    extensions.bind(port, () => reader.close());
    // Their tools can be called from now on.
    choices.rebuild();
  }

  /** What a run begins with instead of `prompts`. */
  async beforeRun(prompts: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { session, choices, host } = this.#parts;
    const { extensions } = session;
    if (!extensions) return prompts;
    const { beforeRun } = await import("./before-run.ts");
    return await beforeRun(prompts, { extensions, choices, clock: host.clock });
  }

  /** Messages of extensions that came too late for a run. Without one to follow, they are in the log for the next prompt. */
  async takeSent(mayContinue: boolean): Promise<readonly AgentMessage[]> {
    const { session, host } = this.#parts;
    const left = await session.extensions?.takeLeft();
    if (!left || left.drafts.length === 0) return [];
    const { drafts, triggersTurn } = left;
    if (triggersTurn && mayContinue) return drafts.map((draft) => toCustomMessage(draft, host.clock.now()));
    const entries = drafts.map((draft) => ({ type: "custom_message" as const, ...draft }));
    await applyBoundary(host, { entries }).catch((error: unknown) => {
      session.notify("not_remembered", `Messages of extensions could not be kept: ${getErrorMessage(error)}`);
    });
    return [];
  }
}
