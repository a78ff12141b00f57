/**
 * Finds rows by the numbers of their ids: an open-addressing table of numbers. A `Map` of ten million entries would take
 * seconds to build, in which no signal is heard.
 */
export class RowsById {
  readonly #getId: (row: number) => number;
  /** Rows plus 1; 0 is a free slot. At most half of the slots are used. */
  #slots: Int32Array;
  #used = 0;

  /** `getId` returns the id of a row that was set. */
  constructor(getId: (row: number) => number, expectedRows: number) {
    this.#getId = getId;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, expectedRows * 2))));
  }

  /** The row that was set last for this id; -1 if there is none. */
  get(id: number): number {
    return this.#slots[this.#findSlot(id)]! - 1;
  }

  set(id: number, row: number): void {
    const slot = this.#findSlot(id);
    const isNew = this.#slots[slot] === 0;
    this.#slots[slot] = row + 1;
    if (isNew && ++this.#used * 2 > this.#slots.length) this.#grow();
  }

  /** The slot of the id, or the free one where it belongs. */
  #findSlot(id: number): number {
    const mask = this.#slots.length - 1;
    // Ids may be counted, so neighbours have to be spread.
    let slot = Math.imul(id ^ (id >>> 15), 0x2c1b3c6d) & mask;
    for (let row = this.#slots[slot]!; row !== 0 && this.#getId(row - 1) !== id; row = this.#slots[slot]!)
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 2);
    for (const row of before) if (row !== 0) this.#slots[this.#findSlot(this.#getId(row - 1))] = row;
  }
}
