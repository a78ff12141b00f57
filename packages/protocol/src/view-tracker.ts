/** A view that takes events as they come. */
import { isDelta, mergeDeltas } from "./deltas.ts";
import type { Delta, SessionEvent } from "./event.ts";
import { emptyView, reduce, type View } from "./view.ts";

const maxDeltas = 256;

/** Deltas wait until somebody looks: an answer has thousands, and a surface looks a few times per second. */
export class ViewTracker {
  #view: View;
  #deltas: Delta[] = [];

  constructor(view: View = emptyView) {
    this.#view = view;
  }

  get view(): View {
    this.#view = mergeDeltas(this.#deltas).reduce(reduce, this.#view);
    this.#deltas = [];
    return this.#view;
  }

  /** Starts again from a snapshot. */
  set view(view: View) {
    this.#view = view;
    this.#deltas = [];
  }

  /** How many entries the log has; costs nothing. */
  get entryCount(): number {
    return this.#view.log.entryCount;
  }

  take(event: SessionEvent): void {
    if (!isDelta(event)) this.#view = reduce(this.view, event);
    else if (this.#deltas.push(event) === maxDeltas) void this.view;
  }
}
