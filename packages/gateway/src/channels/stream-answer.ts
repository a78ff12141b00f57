/** Shows people an answer while it is written: a message that is edited, and the next one where it becomes too long. */
import type { Clock } from "@tau/ai";
import type { ChannelLimits, Delivery } from "@tau/extensions";
import { decideStream } from "./decide-stream.ts";
import { closeFence, splitText } from "./split-text.ts";

interface StreamPort {
  readonly clock: Clock;
  readonly limits: Pick<ChannelLimits, "maxTextLength"> & { readonly minEditIntervalMs: number };
  /** Records another part of the answer, and sends it. Undefined if the answer is complete by now. */
  readonly open: (text: string, index: number) => Promise<string | undefined>;
  /** Edits the part with this id. */
  readonly edit: (id: string, text: string) => Promise<Delivery | undefined>;
  readonly log: (line: string) => void;
}

/** An edit that fails is tried again after this many intervals; the complete answer is delivered in any case. */
const failedIntervals = 5;

export class AnswerStream {
  readonly #port: StreamPort;
  /** The parts that people see, with their newest texts. */
  readonly #parts: { readonly id: string; text: string }[] = [];
  readonly #startedAtMs: number;
  #text = "";
  #shown = { text: "", atMs: 0, minIntervalMs: 0 };
  #state: "idle" | "waiting" | "showing" | "ended" = "idle";
  #cancelTimer: () => void = () => {};

  constructor(port: StreamPort) {
    this.#port = port;
    this.#startedAtMs = port.clock.monotonic();
    this.#shown.minIntervalMs = port.limits.minEditIntervalMs;
  }

  get text(): string {
    return this.#text.trim();
  }

  add(delta: string): void {
    this.#text += delta;
    // Much text at once is shown sooner than little.
    const isFirst = this.#state === "waiting" && this.#shown.text === "";
    if (isFirst) this.#cancelTimer();
    if (isFirst || this.#state === "idle") this.#next();
  }

  /** Shows nothing more. */
  end(): void {
    this.#cancelTimer();
    this.#state = "ended";
  }

  get isEnded(): boolean {
    return this.#state === "ended";
  }

  #next(): void {
    const { clock, log } = this.#port;
    const nowMs = clock.monotonic();
    const step = decideStream({
      text: this.#text,
      shownText: this.#shown.text,
      ageMs: nowMs - this.#startedAtMs,
      sinceShownMs: nowMs - this.#shown.atMs,
      minIntervalMs: this.#shown.minIntervalMs,
    });
    if (step.kind === "idle") this.#state = "idle";
    else if (step.kind === "wait") {
      this.#state = "waiting";
      this.#cancelTimer = clock.setTimer(step.forMs, () => this.#next());
    } else {
      this.#state = "showing";
      this.#show().catch((error: unknown) => log(`An answer that is being written cannot be shown: ${String(error)}`));
    }
  }

  async #show(): Promise<void> {
    const { clock, limits } = this.#port;
    const text = this.text;
    const texts = splitText(text, limits.maxTextLength);
    let hasFailed = false;
    for (const [index, part] of texts.entries()) {
      if (this.isEnded) return;
      // The last part grows; those before it were closed where they were cut.
      const shown = index === texts.length - 1 ? closeFence(part, limits.maxTextLength) : part;
      const known = this.#parts[index];
      if (!known) {
        const id = await this.#port.open(shown, index);
        if (id === undefined) return this.end();
        this.#parts.push({ id, text: shown });
      } else if (known.text !== shown) {
        known.text = shown;
        const delivery = await this.#port.edit(known.id, shown);
        hasFailed ||= delivery !== undefined && delivery.kind !== "sent";
      }
    }
    const factor = hasFailed ? failedIntervals : 1;
    this.#shown = { text, atMs: clock.monotonic(), minIntervalMs: limits.minEditIntervalMs * factor };
    if (!this.isEnded) this.#next();
  }
}
