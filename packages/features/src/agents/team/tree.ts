/** The agents of this process: a tree for each session that gives tasks, shared by all of its sub-agents. */
import type { ChildSession, SharedResource } from "@tau/extensions";
import { Mailbox } from "./mailbox.ts";
import type { TaskStatus } from "./reports.ts";
import { type Slot, Slots } from "./slots.ts";

/** The name of the session that a tree begins with. */
export const rootId = "main";

type AgentState =
  /** It waits for a slot, or is being opened. */
  | { readonly kind: "waiting" }
  | { readonly kind: "working"; readonly child: ChildSession; readonly slot: Slot; readonly sinceMs: number }
  | { readonly kind: "ended"; readonly status: TaskStatus };

interface AgentParts {
  id: string;
  description: string;
  agentName: string | undefined;
  parent: Agent | undefined;
  tree: AgentTree;
}

/** An agent of a tree: the session that it begins with, or a task. */
export class Agent {
  readonly id: string;
  readonly description: string;
  /** The name of its definition. */
  readonly agentName: string | undefined;
  readonly parent: Agent | undefined;
  readonly tree: AgentTree;
  readonly mailbox = new Mailbox();
  /** The tokens and the cost of it and of its own agents. */
  readonly used = { tokens: 0, cost: 0 };
  /** The tokens of its current task so far, as its session reports them. */
  seenTokens = 0;
  /** Undefined until its session is open. */
  sessionId: string | undefined;
  state: AgentState = { kind: "waiting" };
  /** Says in a few words how it is busy now. */
  doing = "";
  /** Ends its task. */
  stop: () => void = () => {};
  /** Reads its conversation when it has ended. */
  reopen: (() => Promise<ChildSession>) | undefined;

  constructor({ id, description, agentName, parent, tree }: AgentParts) {
    this.id = id;
    this.description = description;
    this.agentName = agentName;
    this.parent = parent;
    this.tree = tree;
  }

  /** 0 for the session that the tree begins with. */
  get depth(): number {
    return this.parent ? this.parent.depth + 1 : 0;
  }

  /** For people and models. */
  get title(): string {
    return this.parent ? `agent ${this.id} (${this.description})` : "the main agent";
  }

  isBelow(other: Agent): boolean {
    return this.parent !== undefined && (this.parent === other || this.parent.isBelow(other));
  }

  /** Adds what was used, to all that it works for too. */
  addUsed(tokens: number, cost: number): void {
    this.used.tokens += tokens;
    this.used.cost += cost;
    this.parent?.addUsed(tokens, cost);
  }
}

class AgentTree {
  readonly root: Agent;
  readonly slots: Slots;
  readonly #agents = new Map<string, Agent>();
  readonly #listeners = new Set<() => void>();

  constructor(getMaxConcurrent: () => number) {
    this.slots = new Slots(getMaxConcurrent);
    this.root = new Agent({ id: rootId, description: "", agentName: undefined, parent: undefined, tree: this });
  }

  /** All but the first, in the order in which they were added. */
  get agents(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  find(id: string): Agent | undefined {
    return id === rootId ? this.root : this.#agents.get(id);
  }

  /** Adds an agent. One with the same id is replaced: its task is resumed. */
  add(parts: Omit<AgentParts, "tree">): Agent {
    const agent = new Agent({ ...parts, tree: this });
    this.#agents.set(agent.id, agent);
    this.changed();
    return agent;
  }

  /** Returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** All trees of the process, by the sessions of their agents. */
export class AgentTrees implements SharedResource {
  readonly #agents = new Map<string, Agent>();

  /** The agent that a session is. A session that no task has started begins a tree. */
  enter(sessionId: string, getMaxConcurrent: () => number): Agent {
    const known = this.#agents.get(sessionId);
    if (known) return known;
    const { root } = new AgentTree(getMaxConcurrent);
    root.sessionId = sessionId;
    this.#agents.set(sessionId, root);
    return root;
  }

  /** A task has a session now. */
  set(agent: Agent, sessionId: string): void {
    agent.sessionId = sessionId;
    this.#agents.set(sessionId, agent);
  }

  leave(agent: Agent): void {
    const { sessionId } = agent;
    if (sessionId !== undefined && this.#agents.get(sessionId) === agent) this.#agents.delete(sessionId);
  }

  close(): void {
    this.#agents.clear();
  }
}
