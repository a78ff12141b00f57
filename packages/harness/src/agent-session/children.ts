/** The sessions that work for a session, and what they may ask of it. */
import type { AgentInfo, ChildOptions } from "@tau/extensions";
import type { Answer, Question } from "@tau/policy";
import type { JudgeParts } from "@tau/policy/internal";
import { followSignal } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { ModelRegistry } from "@tau/config/models";
import type { ResourceLoader } from "@tau/config/resources";
import type { RunAborted } from "../run/run-aborted.ts";
import type { AgentDefinition } from "./tool-session.ts";
import { describeAgent } from "./session-agent.ts";

/** A child as its parent keeps it. */
interface OpenChild {
  readonly hasWork: boolean;
  abort(reason: RunAborted): Promise<void>;
  dispose(): Promise<void>;
}

interface ChildrenParts<Child> {
  open: (options: ChildOptions, definition: AgentDefinition | undefined) => Promise<Child>;
  /** Calls `listener` when the child has ended. */
  onClosed: (child: Child, listener: () => void) => void;
  /** Has whoever answers the questions of the parent, if anyone does. */
  judge: Pick<JudgeParts, "ask">;
  /** Explains why nobody can be asked for a child. Undefined: because nobody is there. */
  explainUnattended: () => string | undefined;
  registry: ModelRegistry;
  resources: ResourceLoader;
  /** Aborts when the parent is closed. */
  lifetime: AbortSignal;
}

export class Children<Child extends OpenChild> {
  readonly #parts: ChildrenParts<Child>;
  readonly #open = new Set<Child>();
  #aborting = new AbortController();

  constructor(parts: ChildrenParts<Child>) {
    this.#parts = parts;
    followSignal(parts.lifetime, (reason) => this.#aborting.abort(reason));
  }

  /** Aborts with the next `abort`, and when the parent is closed. */
  get signal(): AbortSignal {
    const { lifetime } = this.#parts;
    return lifetime.aborted ? lifetime : this.#aborting.signal;
  }

  /** Something is in progress in one of them, or in a child of one. */
  get haveWork(): boolean {
    return [...this.#open].some((child) => child.hasWork);
  }

  /** Throws `aborted` if `abort` was called meanwhile. */
  async open(options: ChildOptions, definition?: AgentDefinition): Promise<Child> {
    const { signal } = this;
    const child = await this.#parts.open(options, definition);
    if (signal.aborted) {
      await child.dispose();
      throw new HarnessError("aborted", `${options.name} was not started, because its parent was aborted.`);
    }
    this.#open.add(child);
    this.#parts.onClosed(child, () => this.#open.delete(child));
    return child;
  }

  /** Ends their runs, and resolves when those are over. */
  async abort(reason: RunAborted): Promise<void> {
    this.#aborting.abort(reason);
    this.#aborting = new AbortController();
    await Promise.all([...this.#open].map((child) => child.abort(reason)));
  }

  /** Asks the question of a child, with its name. */
  async ask(name: string, question: Question, signal: AbortSignal): Promise<Answer> {
    const { judge, explainUnattended } = this.#parts;
    const { ask } = judge;
    if (!ask) return { decision: "deny", by: "nobody", message: explainUnattended() ?? "nobody is there to answer" };
    return await ask({ ...question, summary: `${name}: ${question.summary}` }, signal);
  }

  /** Resolves with the agents that children can be opened with, sorted by name, as their files are now. */
  async getAgents(tools: readonly string[]): Promise<AgentInfo[]> {
    const { resources, registry } = this.#parts;
    const agents = (await resources.findAgents?.()) ?? [];
    return agents.map((agent) => describeAgent(agent, { registry, tools }));
  }
}
