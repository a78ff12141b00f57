/** Numbers for handlers, in the order in which they are first asked for. */
import type { AnyHandler } from "../../api/extension.ts";

/** A handler keeps its number, also when one before it is removed: the host may be in the middle of an event. */
export class HandlerIds {
  readonly #ids = new WeakMap<AnyHandler, number>();
  #next = 0;

  get(handler: AnyHandler): number {
    const id = this.#ids.get(handler) ?? this.#next++;
    this.#ids.set(handler, id);
    return id;
  }
}
