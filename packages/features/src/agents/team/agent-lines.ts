/** Shows a line for each running agent in the surface of the session that their tree begins with. */
import { systemClock } from "@tau/ai";
import type { ExtensionContext } from "@tau/extensions";
import { describeRunning, sortAgents } from "./lines.ts";
import { type Agent, rootId } from "./tree.ts";

/** How often the lines may change. */
const intervalMs = 1_000;

export class AgentLines {
  readonly #self: Agent;
  readonly #context: Pick<ExtensionContext, "ui">;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #shown: string | undefined;

  constructor(self: Agent, context: Pick<ExtensionContext, "ui">) {
    this.#self = self;
    this.#context = context;
    this.#stop = self.id === rootId ? self.tree.onChange(() => this.#follow()) : () => {};
  }

  close(): void {
    this.#stop();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The first change shows the lines soon, and a timer shows the rest: agents change many times in a second. */
  #follow(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#show(), intervalMs);
    this.#timer.unref();
    setImmediate(() => this.#timer && this.#show());
  }

  #show(): void {
    const lines = describeRunning(sortAgents(this.#self.tree.agents), systemClock.monotonic());
    const text = lines?.join("\n");
    if (!lines) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (text === this.#shown) return;
    this.#shown = text;
    this.#context.ui.setWidget("agents", lines);
  }
}
