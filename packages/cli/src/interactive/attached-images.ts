/** Images that go along with the prompt. A marker in the text stands for each; one whose marker was deleted is not sent. */
// Not `decodeURIComponent`, which throws if anything is not well encoded.
import { unescape as decodeAddress } from "node:querystring";
import type { ImageContent } from "@tau/ai";

const imagePath = /\.(?:png|jpe?g|gif|webp)$/i;

export class AttachedImages {
  readonly #images = new Map<string, ImageContent>();
  #count = 0;

  /** Returns the marker. */
  add(image: ImageContent): string {
    const marker = `[image ${++this.#count}]`;
    this.#images.set(marker, image);
    return marker;
  }

  /** The images of a text, in the order of their markers. They are not kept. */
  take(text: string): ImageContent[] {
    const mentioned = [...this.#images]
      .map(([marker, image]) => ({ image, index: text.indexOf(marker) }))
      .filter(({ index }) => index !== -1)
      .toSorted((a, b) => a.index - b.index);
    this.#images.clear();
    return mentioned.map(({ image }) => image);
  }
}

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const maxPathLength = 5_000;

/** The path of an image that was dragged into the terminal, as terminals paste it: quoted or escaped. */
export function findDraggedImage(data: string): string | undefined {
  if (!data.startsWith(pasteStart) || !data.endsWith(pasteEnd) || data.length > maxPathLength) return undefined;
  const pasted = data.slice(pasteStart.length, -pasteEnd.length).trim();
  const quoted = /^'(.*)'$|^"(.*)"$/.exec(pasted);
  const path = quoted ? (quoted[1] ?? quoted[2])! : pasted.replaceAll(/\\(.)/g, "$1");
  const local = path.startsWith("file://") ? decodeAddress(path.slice("file://".length)) : path;
  return imagePath.test(local) && !/[\r\n]/.test(local) && /^(?:[/~.]|[A-Za-z]:)/.test(local) ? local : undefined;
}
