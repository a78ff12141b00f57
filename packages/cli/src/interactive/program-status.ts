/** Reports to the terminal what tau is doing, by the Program Status Protocol (OSC 7501). */
import type { LiveView } from "@tau/protocol";
import { type Terminal, toPlainLine } from "@tau/tui";
import { getActivity } from "./activity-line.ts";

/** `ask`: only if the terminal answers that it knows the protocol. */
export type StatusMode = "always" | "never" | "ask";

/** Asks the terminal whether it knows the protocol. Others give no answer. */
export const statusQuestion = "\x1b]7501;?\x1b\\";
const answerStart = "\x1b]7501;";
const clearStatus = "\x1b]7501;state=clear\x1b\\";

interface ProgramState {
  state: "idle" | "working" | "blocked" | "done" | "error";
  kind?: "permission" | "question";
  message?: string;
}

interface ProgramStatusOptions {
  terminal: Terminal;
  mode: StatusMode;
  /** Whether a dialog is open that is not about a call. */
  hasDialog: () => boolean;
}

export class ProgramStatus {
  readonly #options: ProgramStatusOptions;
  #isSupported: boolean;
  #latest: string | undefined;
  #reported: string | undefined;

  constructor(options: ProgramStatusOptions) {
    this.#options = options;
    this.#isSupported = options.mode === "always";
  }

  /** Whether the input was the terminal's answer. */
  takeAnswer(data: string): boolean {
    if (!data.startsWith(answerStart)) return false;
    if (this.#options.mode === "ask") this.#isSupported = true;
    this.#report();
    return true;
  }

  /** Before each frame, and when a run begins or ends. */
  update(live: LiveView, sessionName: string | undefined): void {
    this.#latest = formatState(getState(live, { sessionName, hasDialog: this.#options.hasDialog() }));
    this.#report();
  }

  /** Removes the report when tau leaves the terminal. */
  close(): void {
    if (this.#reported !== undefined) this.#options.terminal.write(clearStatus);
    this.#reported = undefined;
    this.#isSupported = false;
  }

  #report(): void {
    if (!this.#isSupported || this.#latest === undefined || this.#latest === this.#reported) return;
    this.#reported = this.#latest;
    this.#options.terminal.write(this.#latest);
  }
}

/** Never has anything of prompts and answers: who can see the report need not see the session. Pure. */
export function getState(
  live: LiveView,
  { sessionName, hasDialog }: { sessionName: string | undefined; hasDialog: boolean },
): ProgramState {
  const named = sessionName === undefined ? {} : { message: sessionName };
  if (live.approvals.length > 0) return { state: "blocked", kind: "permission", ...named };
  if (hasDialog && live.run) return { state: "blocked", kind: "question", ...named };
  if (getActivity(live) !== undefined) return { state: "working", ...named };
  const { reason, detail } = live.ended ?? {};
  if (reason === undefined || reason === "abort_signal") return { state: "idle" };
  return reason === "no_tool_calls" ? { state: "done", ...named } : { state: "error", message: detail ?? reason };
}

/** The longest message, in characters. */
const maxMessageLength = 200;

/** The escape sequence that reports a state. A message is one line, in Base64. Pure. */
export function formatState({ state, kind, message }: ProgramState): string {
  const line = message === undefined ? "" : toPlainLine(message.split("\n", 1)[0]!).slice(0, maxMessageLength);
  const text = Buffer.from(line.toWellFormed()).toString("base64");
  const fields = [
    `state=${state}`,
    ...(kind ? [`kind=${kind}`] : []),
    "app=tau",
    ...(text === "" ? [] : [`msg=${text}`]),
  ];
  return `\x1b]7501;${fields.join(":")}\x1b\\`;
}
