/** The run in progress, for parts of a session that are made before anything can run. */
import type { Run } from "../run/run.ts";

export class CurrentRun {
  #run: Run | undefined;

  /** Undefined while none is in progress. */
  get run(): Run | undefined {
    return this.#run;
  }

  begin(run: Run): void {
    this.#run = run;
  }

  end(): void {
    this.#run = undefined;
  }
}
