/** Works on a task with a child of the agent. */
import { realpath } from "node:fs/promises";
import { withoutUndefined } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { type ChildOpener, type FanoutAgent, getOpener, openTaskChild, type TaskChild } from "./child.ts";
import type { Executor, Subagent, SubagentOptions } from "./contract.ts";

/** Somebody else has aborted the run of a child: the agent itself, as its children cannot outlive its run. */
export class ChildAborted extends Error {
  override readonly name = "AbortError";
}

const maxCorrections = 2;

/** `name` is shown to people with the questions of the child. */
export const createSessionExecutor = (agent: FanoutAgent, name: string): Executor => ({
  createSubagent: (options) => new SessionSubagent(agent, name, options),
});

class SessionSubagent implements Subagent {
  readonly maxCorrections = maxCorrections;
  readonly #open: () => Promise<TaskChild>;
  #child: Promise<TaskChild> | undefined;
  #isClosed = false;
  #totalTokens: number | undefined;

  constructor(agent: FanoutAgent, name: string, { worktree, tools, model, systemPrompt }: SubagentOptions) {
    this.#open = async () => {
      const opener = await getOpener(agent);
      if (worktree !== undefined) await checkDirectory(opener, worktree);
      const chosen = withoutUndefined({ tools, model });
      return await openTaskChild(opener, { name, ...chosen, appendSystemPrompt: [systemPrompt] });
    };
  }

  get lastUsage(): { total_tokens: number } | undefined {
    return this.#totalTokens === undefined ? undefined : { total_tokens: this.#totalTokens };
  }

  /** Yields the last message of the run as one piece: what the model says between its calls is not part of the answer. */
  async *run(prompt: string): AsyncGenerator<string> {
    this.#child ??= this.#open();
    const child = await this.#child;
    if (this.#isClosed) return;
    const { kind, text, reason = "no reason was given", totalTokens } = await child.prompt(prompt);
    this.#totalTokens = (this.#totalTokens ?? 0) + totalTokens;
    if (kind === "aborted") throw new ChildAborted(`The run was aborted: ${reason}`);
    if (kind === "failed") throw new Error(reason);
    yield text;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = await this.#child;
    await child?.close();
  }
}

/** Children work where the agent works, so only that directory can be asked for. */
async function checkDirectory({ cwd }: ChildOpener, worktree: string): Promise<void> {
  const directory = await realpath(worktree).catch(() => undefined);
  if (directory === undefined) throw new HarnessError("invalid_input", `The directory ${worktree} does not exist.`);
  if (cwd !== undefined && directory === (await realpath(cwd))) return;
  throw new HarnessError(
    "invalid_input",
    `A child cannot work in ${worktree}, because it works in the directory of its agent. Leave worktree out, or pass an agent of that directory.`,
  );
}
