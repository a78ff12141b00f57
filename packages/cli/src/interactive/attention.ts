/** Tells the user who looks elsewhere: progress in the tab of the terminal, and a bell or a notification. */
import type { LiveView } from "@tau/protocol";
import type { Terminal } from "@tau/tui";
import { getActivity } from "./activity-line.ts";
import type { TerminalSettings } from "./settings.ts";

const sequences: Readonly<Record<TerminalSettings["terminal"]["notifications"], (text: string) => string>> = {
  off: () => "",
  bell: () => "\x07",
  osc9: (text) => `\x1b]9;${text}\x07`,
  osc777: (text) => `\x1b]777;notify;tau;${text}\x07`,
};

export class Attention {
  readonly #terminal: Terminal;
  readonly #getSettings: () => TerminalSettings["terminal"];
  #isBusy = false;
  #showsProgress = false;
  #approvalId: string | undefined;
  /** How the last run ended, as far as it was looked at. */
  #ended: LiveView["ended"];

  constructor(terminal: Terminal, getSettings: () => TerminalSettings["terminal"]) {
    this.#terminal = terminal;
    this.#getSettings = getSettings;
  }

  /** Before each frame. */
  update(live: LiveView): void {
    const { showTerminalProgress } = this.#getSettings();
    const isBusy = getActivity(live) !== undefined;
    if ((isBusy && showTerminalProgress) !== this.#showsProgress) {
      this.#showsProgress = isBusy && showTerminalProgress;
      this.#terminal.setProgress(this.#showsProgress);
    }
    // A user who has stopped the run is looking at the terminal.
    const wasStopped = live.ended !== this.#ended && live.ended?.reason === "abort_signal";
    if (this.#isBusy && !isBusy && !wasStopped) this.#notify("The answer is there.");
    this.#isBusy = isBusy;
    this.#ended = live.ended;
    const id = live.approvals[0]?.id;
    if (id !== undefined && id !== this.#approvalId) this.#notify("A call waits for your answer.");
    this.#approvalId = id;
  }

  /** Another session is shown from now on: what the last one was doing is not over. */
  forget(): void {
    this.#isBusy = false;
    this.#approvalId = undefined;
  }

  #notify(text: string): void {
    const sequence = sequences[this.#getSettings().notifications](text);
    if (sequence !== "") this.#terminal.write(sequence);
  }
}
