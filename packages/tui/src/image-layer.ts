/** The images of one frame of a screen, and which parts of them nothing covers. */
import { hasKittyCommand, type KittyImage, parseKittyLine } from "./kitty-commands.ts";
import { intersect, isEmpty, type LayoutRect, subtract } from "./rect.ts";

export interface VisibleImage {
  readonly image: KittyImage;
  /** The whole image. It may begin above the screen, and end below it. */
  readonly rect: LayoutRect;
  /** The visible parts of it. */
  readonly parts: readonly LayoutRect[];
}

/** How many rows above what is visible are searched for the beginning of an image. */
export const maxImageRows = 200;

export class ImageLayer {
  #images: VisibleImage[] = [];

  get images(): readonly VisibleImage[] {
    return this.#images;
  }

  /** Takes the images out of the lines, the first of which is at `x` and `y`. They are seen within `clip`. */
  takeFrom(lines: readonly string[], x: number, y: number, clip: LayoutRect): readonly string[] {
    if (!lines.some(hasKittyCommand)) return lines;
    return lines.map((line, index) => {
      if (!hasKittyCommand(line)) return line;
      const { text, images } = parseKittyLine(line);
      for (const { column, image } of images) {
        const rect = { x: x + column, y: y + index, width: image.columns, height: image.rows };
        const visible = intersect(rect, clip);
        if (!isEmpty(visible)) this.#images.push({ image, rect, parts: [visible] });
      }
      return text;
    });
  }

  /** Something is drawn over the images that are there so far. */
  cover(rect: LayoutRect): void {
    this.#images = this.#images.map(({ parts, ...image }) => ({
      ...image,
      parts: parts.flatMap((part) => subtract(part, rect)),
    }));
  }
}
