import type { ThinkingContent } from "../../message.ts";

export type ItemKind = "message" | "reasoning" | "function_call" | "custom_tool_call";

export const isItemKind = (type: unknown): type is ItemKind =>
  type === "message" || type === "reasoning" || type === "function_call" || type === "custom_tool_call";

/** Where an event says it belongs. Servers leave out either half. */
export interface ItemKey {
  index: number | undefined;
  /** Empty when unknown. */
  id: string;
}

/** One output item, from the first event that mentions it. */
export interface Item {
  /** Names its block in the draft. */
  readonly key: number;
  readonly kind: ItemKind;
  readonly id: string;
  /** A call's arguments or input as far as they have come. */
  received: string;
  /** Which part of the reasoning is arriving. */
  part: string | undefined;
  done: boolean;
  /** A finished thought, whose encrypted content may come late, and the item it was made from. */
  thought?: { block: ThinkingContent; item: Record<string, unknown> };
}

/**
 * Finds the item an event belongs to. The index and the id normally agree. Where they do not, a known id wins, because
 * some servers say the same index every time; an unknown id means nothing, because some make up a new one every time.
 */
export class ItemTable {
  readonly #byIndex = new Map<number, Item>();
  readonly #byId = new Map<string, Item>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  find({ index, id }: ItemKey): Item | undefined {
    const indexed = index === undefined ? undefined : this.#byIndex.get(index);
    if (indexed && (id === "" || indexed.id === id)) return indexed;
    return this.#byId.get(id) ?? indexed;
  }

  add({ index, id }: ItemKey, kind: ItemKind): Item {
    const item: Item = { key: this.#count++, kind, id, received: "", part: undefined, done: false };
    if (index !== undefined) this.#byIndex.set(index, item);
    this.#byId.set(id, item);
    return item;
  }

  /** The item for a piece of content, made if no event announced it. One that is done takes no more. */
  growing(place: ItemKey, kind: ItemKind): Item | undefined {
    const found = this.find(place);
    if (!found || found.kind !== kind || (found.done && place.id !== "" && place.id !== found.id)) {
      return this.add(place, kind);
    }
    return found.done ? undefined : found;
  }

  /** The item that is announced. One that grew before its announcement is the same. */
  announced(place: ItemKey, kind: ItemKind): Item {
    const found = this.find(place);
    const same = found && !found.done && found.kind === kind && (place.id === "" || place.id === found.id);
    return same ? found : this.add(place, kind);
  }
}
