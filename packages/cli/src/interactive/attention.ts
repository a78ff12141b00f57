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
    if (this.#isBusy && !isBusy) this.#notify("The answer is there.");
    this.#isBusy = isBusy;
    const id = live.approvals[0]?.id;
    if (id !== undefined && id !== this.#approvalId) this.#notify("A call waits for your answer.");
    this.#approvalId = id;
  }

  #notify(text: string): void {
    const sequence = sequences[this.#getSettings().notifications](text);
    if (sequence !== "") this.#terminal.write(sequence);
  }
}
