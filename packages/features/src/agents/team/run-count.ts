/** Counts runs that no person asked for, so that agents do not keep a session busy for ever. Pure but for its state. */

/** So many runs may follow each other without a word of a person. */
const maxRuns = 10;

export class RunCount {
  #runs = 0;
  #isAsked = false;
  #isHeld = false;

  /** Whether reports of tasks may begin a run. */
  get mayBegin(): boolean {
    return !this.#isHeld && this.#runs < maxRuns;
  }

  /** Says why reports wait; undefined if they do not, or the person knows. */
  get limitNotice(): string | undefined {
    if (this.#isHeld || this.mayBegin) return undefined;
    return `Sub-agents have started ${maxRuns} runs since your last message. Their next answers wait for one.`;
  }

  /** The session was aborted: the reports of its tasks wait for a word of a person. */
  hold(): void {
    this.#isHeld = true;
  }

  /** A person said something. `begins`: a run begins with it. */
  addWord(begins: boolean): void {
    this.#runs = 0;
    this.#isHeld = false;
    this.#isAsked = begins;
  }

  /** A run begins. */
  addRun(): void {
    if (!this.#isAsked) this.#runs++;
    this.#isAsked = false;
  }
}
