/** Leaves the program. Jobs end with it, which the user may have forgotten. */
import type { Terminal } from "@tau/tui";
import { confirmLeaving } from "./commands/jobs.ts";
import type { FirstEntries } from "./first-entries.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { Interface } from "./interface.ts";

interface ExitOptions extends Pick<Interface, "choose"> {
  session: FollowedSession;
  terminal: Terminal;
  first: FirstEntries;
}

export class Exit {
  readonly #options: ExitOptions;
  #leave: () => void = () => {};
  /** Resolves when the user leaves. */
  readonly left = new Promise<void>((resolve) => (this.#leave = resolve));

  constructor(options: ExitOptions) {
    this.#options = options;
  }

  /** Leaves, unless jobs would end and the user wants to stay. */
  async ask(): Promise<void> {
    const { session, choose } = this.#options;
    const { client, view } = session;
    const { outlivesTerminal = false } = client;
    const jobs = outlivesTerminal ? [] : [...view.live.jobs, ...(client.listOtherJobs?.() ?? [])];
    if (jobs.length === 0 || (await confirmLeaving({ choose }, jobs))) this.leave();
  }

  /** Leaves. Answers of the terminal that are on their way must not reach the shell: `drainInput` takes them. */
  readonly leave = (): void => {
    const { terminal, first } = this.#options;
    first.stop();
    void terminal.drainInput().finally(() => this.#leave());
  };
}
