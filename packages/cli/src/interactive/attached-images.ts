/** Images that go along with the prompt. A marker in the text stands for each; one whose marker was deleted is not sent. */
import type { ImageContent } from "@tau/ai";
import { createImageMarker } from "./blocks/image-names.ts";

/** The oldest are forgotten beyond this: it is more than a message can have. */
const maxLength = 100_000_000;

export class AttachedImages {
  readonly #images = new Map<string, ImageContent>();
  #count = 0;
  /** The length of the data of all images. */
  #length = 0;

  /** Returns the marker. */
  add(image: ImageContent): string {
    const marker = createImageMarker(++this.#count);
    this.#images.set(marker, image);
    this.#length += image.data.length;
    for (const [oldest, { data }] of this.#images) {
      if (this.#length <= maxLength) break;
      this.#images.delete(oldest);
      this.#length -= data.length;
    }
    return marker;
  }

  /** The images of a text, in the order of their markers. They are kept: the text may come back to the editor. */
  find(text: string): ImageContent[] {
    return [...this.#images]
      .map(([marker, image]) => ({ image, index: text.indexOf(marker) }))
      .filter(({ index }) => index !== -1)
      .toSorted((a, b) => a.index - b.index)
      .map(({ image }) => image);
  }
}
