/** Notifies a user who looks elsewhere: progress in the tab of the terminal, and a bell or a notification. */
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

/** A user waits for what is shorter. */
const longRunMs = 10_000;

/** Makes the terminal report whether its window has the focus. */
export const followFocus = "\x1b[?1004h";
export const unfollowFocus = "\x1b[?1004l";
const focusReports: Readonly<Record<string, boolean>> = { "\x1b[I": true, "\x1b[O": false };

interface AttentionOptions {
  terminal: Terminal;
  getSettings: () => TerminalSettings["terminal"];
  now: () => number;
  /** Passes a notification on to the user's own command. Default: there is none. */
  onNotify?: (type: NotificationType, message: string) => void;
}

/** The kinds of notifications, by Claude Code's names. */
export type NotificationType = "idle_prompt" | "permission_prompt";

export class Attention {
  readonly #options: AttentionOptions;
  /** Since when something is in progress. */
  #busySince: number | undefined;
  #showsProgress = false;
  #approvalId: string | undefined;
  /** How the last run ended, as far as it was looked at. */
  #ended: LiveView["ended"];
  /** Undefined as long as the terminal has not reported it: many do not. */
  #hasFocus: boolean | undefined;

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  /** Whether the input was a report of the terminal about its focus. */
  takeFocus(data: string): boolean {
    const hasFocus = Object.hasOwn(focusReports, data) ? focusReports[data] : undefined;
    if (hasFocus !== undefined) this.#hasFocus = hasFocus;
    return hasFocus !== undefined;
  }

  /** Before each frame. */
  update(live: LiveView): void {
    const { terminal, getSettings, now } = this.#options;
    const { showTerminalProgress } = getSettings();
    const isBusy = getActivity(live) !== undefined;
    if ((isBusy && showTerminalProgress) !== this.#showsProgress) {
      this.#showsProgress = isBusy && showTerminalProgress;
      terminal.setProgress(this.#showsProgress);
    }
    // A user who has stopped the run is looking at the terminal.
    const wasStopped = live.ended !== this.#ended && live.ended?.reason === "abort_signal";
    const wasLong = this.#busySince !== undefined && now() - this.#busySince > longRunMs;
    if (wasLong && !isBusy && !wasStopped && !this.#hasFocus) this.#notify("idle_prompt", "The answer is there.");
    this.#busySince = isBusy ? (this.#busySince ?? now()) : undefined;
    this.#ended = live.ended;
    const id = live.approvals[0]?.id;
    if (id !== undefined && id !== this.#approvalId) this.#notify("permission_prompt", "A call waits for your answer.");
    this.#approvalId = id;
  }

  /** Another session is shown from now on: what the last one was doing is not over. */
  forget(): void {
    this.#busySince = undefined;
    this.#approvalId = undefined;
  }

  #notify(type: NotificationType, text: string): void {
    const { terminal, getSettings, onNotify } = this.#options;
    onNotify?.(type, text);
    const sequence = sequences[getSettings().notifications](text);
    if (sequence !== "") terminal.write(sequence);
  }
}
