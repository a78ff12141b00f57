/** A view that takes events as they come. */
import { continues, isDelta } from "./deltas.ts";
import type { Delta, SessionEvent } from "./event.ts";
import { emptyView, reduce, type View } from "./view.ts";

/** Deltas wait until somebody looks: an answer has thousands, and a surface looks a few times per second. */
export class ViewTracker {
  #view: View;
  /** The first of the deltas that wait, which continue each other. */
  #delta: Delta | undefined;
  /** Their text. */
  #text = "";

  constructor(view: View = emptyView) {
    this.#view = view;
  }

  get view(): View {
    if (this.#delta) this.#view = reduce(this.#view, { ...this.#delta, delta: this.#text });
    this.#delta = undefined;
    return this.#view;
  }

  /** Starts again from a snapshot. */
  set view(view: View) {
    this.#view = view;
    this.#delta = undefined;
  }

  /** How many entries the log has; costs nothing. */
  get entryCount(): number {
    return this.#view.log.entryCount;
  }

  take(event: SessionEvent): void {
    if (!isDelta(event)) this.#view = reduce(this.view, event);
    else if (this.#delta && continues(event, this.#delta)) this.#text += event.delta;
    else {
      this.#view = this.view;
      this.#delta = event;
      this.#text = event.delta;
    }
  }
}
