import type { FrameRedactor } from "@tau/harness/host";
import type { Io } from "../commands/command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type Framing, notification } from "./framing.ts";

/** Writes to standard output. A response has the framing of its command, an event that of the first command. */
export class Wire {
  readonly #io: Io;
  /** The framing of the first command. No event is written before it. */
  framing: Framing | undefined;
  /** Removes the keys of the current session. Undefined before there is one. */
  redactor: FrameRedactor | undefined;
  /** Whether a client that uses JSON-RPC has said that it answers questions. Those of pi's framing cannot say it. */
  #answersApprovals = false;
  /** Whether the client answers dialogs of extensions. */
  #answersDialogs = false;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Whether somebody answers questions. */
  get isAttended(): boolean {
    return this.framing === "pi" || this.#answersApprovals;
  }

  /** Whether somebody answers dialogs of extensions. */
  get answersDialogs(): boolean {
    return this.framing === "pi" || this.#answersDialogs;
  }

  /** Sets what a client that uses JSON-RPC has reported of itself. */
  setAbilities({ approvals, ui }: { approvals: boolean; ui: boolean }): void {
    this.#answersApprovals = approvals;
    this.#answersDialogs = ui;
  }

  write(record: object | undefined): void {
    if (!record) return;
    const line = jsonLine(record);
    this.#io.out(this.redactor?.redactLine(line) ?? line);
  }

  /** Writes an event to a client that uses pi's framing. */
  sendPi(record: object): void {
    if (this.framing === "pi") for (const event of this.#redact(record)) this.write(event);
  }

  /** Writes a notification to a client that uses JSON-RPC. */
  notify(method: string, params: object): void {
    if (this.framing === "json-rpc") for (const event of this.#redact(params)) this.write(notification(method, event));
  }

  #redact(event: object): readonly object[] {
    return this.redactor?.redactEvent(event) ?? [event];
  }
}
