/** Children of an agent, whichever kind of agent it is. */
import type { AgentMessage } from "@tau/agent";
import type { Failure } from "@tau/ai";
import { followSignal, joinTextBlocks } from "@tau/ai/internal";
import type { Settings } from "@tau/config/settings";
import type { ChildOptions, ChildOutcome, ChildSession } from "@tau/extensions";
import { HarnessError, type RunEnd } from "@tau/protocol";

/** Opens sessions that work for it: a session of `createAgentSession`, or the `tau` of an extension. */
export interface ChildOpener {
  readonly cwd?: string;
  readonly settingsManager?: { get(): Settings };
  getCwd?(): string;
  getSettings?(): Settings;
  openChild(options: ChildOptions): Promise<ChildSession | OpenedSession>;
  getChildrenSignal?(): AbortSignal;
}

/** An agent whose tasks can be given to children: the result of `createAgent`, a session, or the `tau` of an extension. */
export type FanoutAgent = ChildOpener | { session(): Promise<ChildOpener> };

/** The parts of a session that `AgentSession.openChild` returns which are used here. */
export interface OpenedSession {
  prompt(text: string): Promise<SessionOutcome>;
  dispose(): Promise<void>;
}

type SessionOutcome =
  | { readonly kind: "queued" | "handled" }
  | {
      readonly kind: "ran";
      readonly end: RunEnd;
      readonly answer: Extract<AgentMessage, { role: "assistant" }> | undefined;
      readonly messages: readonly AgentMessage[];
      readonly failure: Failure | undefined;
      readonly detail: string | undefined;
    };

/** A child with the two methods that a task needs. */
export interface TaskChild {
  prompt(text: string): Promise<TaskAnswer>;
  close(): Promise<void>;
}

interface TaskAnswer extends Pick<ChildOutcome, "kind" | "text" | "reason"> {
  totalTokens: number;
}

export async function getOpener(agent: FanoutAgent): Promise<ChildOpener> {
  return "openChild" in agent ? agent : await agent.session();
}

/** Calls `onAbort` when the agent is aborted or ends. Returns how to stop. An agent of another kind is not followed. */
export function followAgent(agent: unknown, onAbort: (reason: unknown) => void): () => void {
  let stop = () => {};
  let isStopped = false;
  const follow = (opener: ChildOpener) => {
    if (!isStopped) stop = followSignal(opener.getChildrenSignal?.(), onAbort);
  };
  // At once, if it is open: it may be aborted at any moment.
  if (isAgent(agent)) {
    if ("openChild" in agent) follow(agent);
    // The tasks that need the session report why it cannot be opened.
    else void (async () => follow(await agent.session()))().catch(() => {});
  }
  return () => {
    isStopped = true;
    stop();
  };
}

/** With an executor the agent may be anything, also undefined. */
export function isAgent(agent: unknown): agent is FanoutAgent {
  const { openChild, session } = (agent ?? {}) as { openChild?: unknown; session?: unknown };
  return typeof openChild === "function" || typeof session === "function";
}

/** Throws for a value that is none of the kinds of agents. */
export function checkAgent(agent: unknown): asserts agent is FanoutAgent {
  if (isAgent(agent)) return;
  throw new HarnessError(
    "invalid_input",
    "TaskFanout needs an agent of createAgent, a session, or the API of an extension. With others, pass an executor.",
  );
}

export async function openTaskChild(opener: ChildOpener, options: ChildOptions): Promise<TaskChild> {
  const child = await opener.openChild(options);
  if ("dispose" in child) {
    return {
      prompt: async (text) => describeRun(await child.prompt(text)),
      close: () => child.dispose(),
    };
  }
  return {
    async prompt(text) {
      const { usage, ...outcome } = await child.prompt(text);
      return { ...outcome, totalTokens: usage.totalTokens };
    },
    close: () => child.close(),
  };
}

/** Pure. */
function describeRun(outcome: SessionOutcome): TaskAnswer {
  if (outcome.kind !== "ran") {
    const reason = "The prompt is a slash command, so the model was not asked.";
    return { kind: "failed", text: "", reason, totalTokens: 0 };
  }
  const { end, answer, messages, failure, detail } = outcome;
  const text = answer ? joinTextBlocks(answer.content) : "";
  const totalTokens = messages.reduce(
    (sum, message) => sum + (message.role === "assistant" ? message.usage.totalTokens : 0),
    0,
  );
  if ((end.kind === "done" || end.kind === "stopped") && answer) return { kind: "done", text, totalTokens };
  const reason = failure?.message ?? detail ?? `The run ended for the reason ${end.kind}.`;
  return { kind: end.kind === "aborted" ? "aborted" : "failed", text, reason, totalTokens };
}
