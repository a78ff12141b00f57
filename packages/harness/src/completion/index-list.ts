const firstSize = 256;

/** A growing list of indices, four bytes each. */
export class IndexList {
  #values = new Uint32Array(firstSize);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(index: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = index;
  }

  /** The first `count` are in use. Replaced when the list grows. */
  get values(): Uint32Array {
    return this.#values;
  }
}
