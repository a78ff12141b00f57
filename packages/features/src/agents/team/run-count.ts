/** Counts runs that no person asked for, so that agents do not keep a session busy for ever. Pure but for its state. */

/** So many runs may follow each other without a word of a person. */
export const maxRuns = 10;

export class RunCount {
  #runs = 0;
  #isAsked = false;

  /** Whether reports of tasks may begin a run. */
  get mayBegin(): boolean {
    return this.#runs < maxRuns;
  }

  get limitNotice(): string {
    return `Sub-agents have started ${maxRuns} runs since your last message. Their next answers wait for one.`;
  }

  /** A person said something. `begins`: a run begins with it. */
  addWord(begins: boolean): void {
    this.#runs = 0;
    this.#isAsked = begins;
  }

  /** A run begins. */
  addRun(): void {
    if (!this.#isAsked) this.#runs++;
    this.#isAsked = false;
  }
}
