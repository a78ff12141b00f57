/** Everything that goes out. Events and questions follow the framing of the first command; answers that of their own. */
import type { Approval } from "@tau/protocol";
import type { Io } from "../command.ts";
import { jsonLine } from "../json-line.ts";
import {
  type Fault,
  faultRecord,
  type Framing,
  notification,
  questionRecord,
  type Sender,
  successRecord,
} from "./framing.ts";

export class Wire {
  readonly #io: Io;
  #framing: Framing | undefined;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Undefined until somebody has spoken: before that nobody can be told anything. */
  get framing(): Framing | undefined {
    return this.#framing;
  }

  /** The first one counts. */
  speak(framing: Framing): void {
    this.#framing ??= framing;
  }

  succeed(sender: Sender, data: unknown): void {
    this.#write(successRecord(sender, data));
  }

  fail(sender: Sender, fault: Fault): void {
    this.#write(faultRecord(sender, fault));
  }

  ask(approval: Approval): void {
    this.#write(questionRecord(this.#framing ?? "pi", approval));
  }

  /** An event as pi's clients know it, for those who speak so. */
  pi(record: object): void {
    if (this.#framing === "pi") this.#write(record);
  }

  /** For those who speak JSON-RPC. */
  notify(method: string, params: unknown): void {
    if (this.#framing === "json-rpc") this.#write(notification(method, params));
  }

  #write(record: object | undefined): void {
    if (record) this.#io.out(jsonLine(record));
  }
}
