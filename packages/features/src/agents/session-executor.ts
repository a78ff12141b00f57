/** Works on a task with a child of the agent. */
import { withoutUndefined } from "@tau/ai/internal";
import { type FanoutAgent, getOpener, openTaskChild, type TaskChild } from "./child.ts";
import { maxCorrections } from "../kit/ask-until-fits.ts";
import type { ChildPlace } from "./isolate-task.ts";
import type { Executor, FanoutTask, Subagent, SubagentOptions } from "./contract.ts";

/** The id of the task is shown to people with the questions of the child. */
export const createSessionExecutor = (
  agent: FanoutAgent,
  { id: name, agent: agentName }: Pick<FanoutTask, "id" | "agent">,
  place: ChildPlace = {},
): Executor => ({
  createSubagent: (options) =>
    new SessionSubagent(agent, { ...place, name, ...withoutUndefined({ agentName }) }, options),
});

class SessionSubagent implements Subagent {
  readonly maxCorrections = maxCorrections;
  readonly #open: () => Promise<TaskChild>;
  #child: Promise<TaskChild> | undefined;
  #isClosed = false;
  #totalTokens: number | undefined;

  constructor(
    agent: FanoutAgent,
    own: ChildPlace & { name: string; agentName?: string },
    { worktree, tools, model, systemPrompt }: SubagentOptions,
  ) {
    this.#open = async () => {
      const opener = await getOpener(agent);
      const chosen = withoutUndefined({ tools, model, cwd: worktree });
      return await openTaskChild(opener, { ...own, ...chosen, appendSystemPrompt: [systemPrompt] });
    };
  }

  get lastUsage(): { total_tokens: number } | undefined {
    return this.#totalTokens === undefined ? undefined : { total_tokens: this.#totalTokens };
  }

  /** Yields the last message of the run as one piece: what the model says between its calls is not part of the answer. */
  async *run(prompt: string): AsyncGenerator<string> {
    const child = await (this.#child ??= this.#open());
    if (this.#isClosed) return;
    const { kind, text, reason = "no reason was given", totalTokens } = await child.prompt(prompt);
    this.#totalTokens = (this.#totalTokens ?? 0) + totalTokens;
    if (kind !== "done") throw new Error(kind === "aborted" ? `The run was aborted: ${reason}` : reason);
    yield text;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = await this.#child;
    await child?.close();
  }
}
