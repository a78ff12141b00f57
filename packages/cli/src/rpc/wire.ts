import type { Io } from "../command.ts";
import { jsonLine } from "../json-line.ts";
import { type Framing, notification } from "./framing.ts";

/** Writes to standard output. A response has the framing of its command, an event that of the first command. */
export class Wire {
  readonly #io: Io;
  /** The framing of the first command. No event is written before it. */
  framing: Framing | undefined;
  /** Whether a client that uses JSON-RPC has said that it answers questions. Those of pi's framing cannot say it. */
  answers = false;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Whether somebody answers questions. */
  get isAttended(): boolean {
    return this.framing === "pi" || this.answers;
  }

  write(record: object | undefined): void {
    if (record) this.#io.out(jsonLine(record));
  }

  /** Writes an event to a client that uses pi's framing. */
  sendPi(record: object): void {
    if (this.framing === "pi") this.write(record);
  }

  /** Writes a notification to a client that uses JSON-RPC. */
  notify(method: string, params: unknown): void {
    if (this.framing === "json-rpc") this.write(notification(method, params));
  }
}
