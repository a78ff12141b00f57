/** Earlier prompts, and the draft that was left for them. */
import type { TextDocument } from "./document.ts";

const maxPrompts = 100;

export class PromptHistory {
  /** The latest first. */
  #prompts: string[] = [];
  /** Which prompt is shown; -1 is the draft. */
  #index = -1;
  #draft: TextDocument | undefined;

  get isBrowsing(): boolean {
    return this.#index >= 0;
  }

  /** Blank prompts and repetitions of the latest one are left out. */
  add(text: string): void {
    const prompt = text.trim();
    if (prompt === "" || prompt === this.#prompts[0]) return;
    this.#prompts = [prompt, ...this.#prompts].slice(0, maxPrompts);
  }

  /** The next older prompt; undefined if there is none. */
  older(document: TextDocument): string | undefined {
    if (this.#index + 1 >= this.#prompts.length) return undefined;
    if (this.#index === -1) this.#draft = document;
    this.#index++;
    return this.#prompts[this.#index];
  }

  /** The next newer prompt, at last the draft; undefined while the draft is shown. */
  newer(): string | TextDocument | undefined {
    if (this.#index < 0) return undefined;
    this.#index--;
    if (this.#index >= 0) return this.#prompts[this.#index];
    const draft = this.#draft;
    this.#draft = undefined;
    return draft;
  }

  /** Makes what is shown now the draft. */
  leave(): void {
    this.#index = -1;
    this.#draft = undefined;
  }
}
