/** The three-line version: an AI, tools by name, and a text in, a text out. */
import { type AI, modelsAreEqual, streamSimple } from "@tau/ai";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { createAgentSession } from "./create-agent-session.ts";
import type { AgentSessionParams } from "./params.ts";
import { HarnessError } from "@tau/protocol";
import { createCheck, withMethods } from "@tau/config/internal";
import { jsonObject } from "@tau/config/fields";
import { SessionManager } from "../session/session-manager.ts";

export interface CreateAgentOptions extends Omit<AgentSessionParams, "model" | "streamFn"> {
  ai: AI;
}

/** An agent with one session. It is made when the agent first runs, and kept in memory unless a manager is given. */
export interface SimpleAgent {
  /**
   * Runs to the end and resolves with the answer's text. Rejects with `HarnessError` `run_failed` when there is none, and
   * when a limit ended the run: what the model said last is then no answer, or only the beginning of one.
   */
  run(text: string): Promise<string>;
  /** The session behind it, for everything else. */
  session(): Promise<AgentSession>;
  dispose(): Promise<void>;
}

const checkOptions = createCheck({
  options: jsonObject,
  ai: withMethods("an AI, such as one of createAI", "streamSimple"),
});

export function createAgent(options: CreateAgentOptions): SimpleAgent {
  checkOptions({ options });
  const { ai, ...params } = options;
  checkOptions({ ai });
  let opened: Promise<AgentSession> | undefined;
  const open = async () => {
    const sessionManager = params.sessionManager ?? (await SessionManager.inMemory(params.cwd));
    return await createAgentSession({
      ...params,
      sessionManager,
      model: ai.model,
      // The key that is bound to the AI is only for its own model.
      streamFn(model, context, options) {
        if (!modelsAreEqual(model, ai.model)) return streamSimple(model, context, options);
        if (options?.apiKey !== undefined) return ai.streamSimple(context, options);
        // The key of `createAI` is used, about which the session knows nothing.
        const { keyHint: _hint, ...own } = options ?? {};
        return ai.streamSimple(context, own);
      },
    });
  };
  const session = () => {
    opened ??= open().catch((error: unknown) => {
      // The caller may correct the cause and try again.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    session,
    async run(text) {
      const outcome = await (await session()).prompt(text);
      if (outcome.kind !== "ran")
        throw new HarnessError("busy", "A run is already in progress. Wait for it before you start another.");
      const { end, terminationReason: reason, detail, failure, answer } = outcome;
      if ((end.kind === "done" || end.kind === "stopped") && answer) {
        return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      }
      const why = failure?.message ?? detail ?? "it was given no answer";
      throw new HarnessError("run_failed", `The run ended for the reason ${reason}: ${why}`);
    },
    async dispose() {
      if (opened) await (await opened).dispose();
    },
  };
}
