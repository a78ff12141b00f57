/** Choices of a prompt for the requests of the run that it begins. */
import type { OutputFormat, StreamOptions, ToolChoice } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";

export interface RequestChoices {
  /** The form of the answer. */
  readonly output?: OutputFormat | undefined;
  /** Applies until the run has made a call: a model that must always call a tool would never answer. */
  readonly toolChoice?: ToolChoice | undefined;
}

export class RunChoices {
  /** Apply to runs whose prompt says nothing else. */
  readonly #usual: RequestChoices;
  #choices: RequestChoices;

  constructor(usual: RequestChoices) {
    this.#usual = usual;
    this.#choices = usual;
  }

  /** The options of the next request. */
  get current(): Pick<StreamOptions, "output" | "toolChoice"> {
    return withoutUndefined(this.#choices);
  }

  /** Takes the choices of a prompt that begins a run. */
  take(choices: RequestChoices): void {
    this.#choices = { ...this.#usual, ...withoutUndefined(choices) };
  }

  noteCall(): void {
    this.#choices = { ...this.#choices, toolChoice: undefined };
  }

  end(): void {
    this.#choices = this.#usual;
  }
}
