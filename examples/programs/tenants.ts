/** A coding agent for each customer, in one process. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AI } from "@tau/ai";
import { createAgent, type SimpleAgent } from "@tau/harness";

export interface Customer {
  /** Chosen by the product, never by the customer: it names a directory. */
  id: string;
  ai: AI;
}

/** Keeps an agent for each customer that asked lately. */
export class CustomerAgents {
  readonly #directory: string;
  readonly #maxOpen: number;
  /** The one that asked last is at the end. */
  readonly #open = new Map<string, SimpleAgent>();

  constructor(directory: string, maxOpen = 200) {
    this.#directory = directory;
    this.#maxOpen = maxOpen;
  }

  async ask({ id, ai }: Customer, question: string): Promise<string> {
    const cwd = join(this.#directory, encodeURIComponent(id));
    await mkdir(cwd, { recursive: true });
    const agent = this.#open.get(id) ?? createAgent({ ai, cwd, isolation: "tenant", budgets: { cost: 5 } });
    this.#open.delete(id);
    this.#open.set(id, agent);
    await this.#closeOldest();
    return await agent.run(question);
  }

  async #closeOldest(): Promise<void> {
    for (const [id, agent] of this.#open) {
      if (this.#open.size <= this.#maxOpen) return;
      this.#open.delete(id);
      await agent.dispose();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((agent) => agent.dispose()));
    this.#open.clear();
  }
}
