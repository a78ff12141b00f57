/** Images that go along with the prompt. A marker in the text stands for each; one whose marker was deleted is not sent. */
import { unescape } from "node:querystring";
import type { ImageContent } from "@tau/ai";

const imagePath = /\.(?:png|jpe?g|gif|webp)$/i;

/** The oldest are forgotten beyond this: it is more than a message can have. */
const maxLength = 100_000_000;

export class AttachedImages {
  readonly #images = new Map<string, ImageContent>();
  #count = 0;
  /** Of the data of all images. */
  #length = 0;

  /** Returns the marker. */
  add(image: ImageContent): string {
    const marker = `[image ${++this.#count}]`;
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

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const maxPathLength = 5_000;

export interface DraggedFile {
  path: string;
  /** As the terminal pasted it. */
  pasted: string;
}

/** An image that was dragged into the terminal: terminals paste its path, quoted or escaped. */
export function findDraggedImage(data: string): DraggedFile | undefined {
  if (!data.startsWith(pasteStart) || !data.endsWith(pasteEnd) || data.length > maxPathLength) return undefined;
  const pasted = data.slice(pasteStart.length, -pasteEnd.length);
  const trimmed = pasted.trim();
  const quoted = /^'(.*)'$|^"(.*)"$/.exec(trimmed);
  const path = quoted ? (quoted[1] ?? quoted[2])! : trimmed.replaceAll(/\\(.)/g, "$1");
  // Not `decodeURIComponent`, which throws if anything is not well encoded.
  const local = path.startsWith("file://") ? unescape(path.slice("file://".length)) : path;
  const isImage = imagePath.test(local) && !/[\r\n]/.test(local) && /^(?:[/~.]|[A-Za-z]:)/.test(local);
  return isImage ? { path: local, pasted } : undefined;
}
