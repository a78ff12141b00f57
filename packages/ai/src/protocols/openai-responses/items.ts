import type { ThinkingContent } from "../../message.ts";

export type ItemKind = "message" | "reasoning" | "function_call" | "custom_tool_call";

export const isItemKind = (type: unknown): type is ItemKind =>
  type === "message" || type === "reasoning" || type === "function_call" || type === "custom_tool_call";

/** The item that an event refers to. Servers may omit either field. */
export interface ItemKey {
  index: number | undefined;
  /** Empty if unknown. */
  id: string;
}

/** An output item. It exists from the first event that mentions it. */
export interface Item {
  /** The key of its block in the draft. */
  readonly key: number;
  readonly kind: ItemKind;
  readonly id: string;
  /** The arguments or input of a call received so far. */
  received: string;
  /** The part of the reasoning that is being received. */
  part: string | undefined;
  done: boolean;
  /** A finished thinking block and the item it came from. The item's encrypted content may arrive later. */
  thought?: { block: ThinkingContent; item: Record<string, unknown> };
}

/**
 * Finds the item that an event belongs to. Index and id normally agree. If they do not, a known id wins, because some
 * servers always send the same index; an unknown id is ignored, because some servers send a new id with every event.
 */
export class ItemTable {
  readonly #byIndex = new Map<number, Item>();
  readonly #byId = new Map<string, Item>();
  readonly #items: Item[] = [];

  get kinds(): Set<ItemKind> {
    return new Set(this.#items.map(({ kind }) => kind));
  }

  /** An event with neither index nor id belongs to the newest item. */
  find({ index, id }: ItemKey): Item | undefined {
    if (index === undefined && id === "") return this.#items.at(-1);
    const indexed = index === undefined ? undefined : this.#byIndex.get(index);
    if (indexed?.id === id) return indexed;
    return this.#byId.get(id) ?? indexed;
  }

  /** Without an index, an item is counted after the items before it. */
  add({ index, id }: ItemKey, kind: ItemKind): Item {
    const item: Item = { key: this.#items.length, kind, id, received: "", part: undefined, done: false };
    this.#items.push(item);
    this.#byIndex.set(index ?? item.key, item);
    if (id !== "") this.#byId.set(id, item);
    return item;
  }

  /** The item for a piece of content; added if no event announced it. Undefined if the item is already done. */
  findOrAdd(key: ItemKey, kind: ItemKind): Item | undefined {
    const match = this.find(key);
    if (!match || match.kind !== kind || (match.done && key.id !== "" && key.id !== match.id)) {
      return this.add(key, kind);
    }
    return match.done ? undefined : match;
  }

  /** The item of an `added` event. Content may have arrived before it; then the item already exists. */
  announce(key: ItemKey, kind: ItemKind): Item {
    const match = this.find(key);
    const isSameId = key.id === "" || match?.id === "" || key.id === match?.id;
    return match && isSameId && !match.done && match.kind === kind ? match : this.add(key, kind);
  }
}
