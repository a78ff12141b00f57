/** An image of the conversation: drawn where the terminal can and the user wants it, else named. */
import type { ImageContent } from "@tau/ai";
import {
  allocateImageId,
  type Component,
  getCapabilities,
  getImageDimensions,
  Image,
  imageFallback,
  truncateToWidth,
} from "@tau/tui";
import type { Look } from "../look.ts";

export class ImageBlock implements Component {
  readonly #content: ImageContent;
  readonly #look: Look;
  /** Always the same, so that an image that is drawn again takes its own place. */
  readonly #imageId = allocateImageId();
  #image: Image | undefined;

  constructor(content: ImageContent, look: Look) {
    this.#content = content;
    this.#look = look;
  }

  /** Whether it is drawn, and not only named. */
  get isDrawn(): boolean {
    return this.#look.images.areShown && getCapabilities().images !== null;
  }

  invalidate(): void {
    this.#image = undefined;
  }

  render(width: number): string[] {
    const { theme, images } = this.#look;
    const { data, mimeType } = this.#content;
    const fallbackColor = (text: string) => theme.fg("muted", text);
    if (!images.areShown) {
      const text = imageFallback(mimeType, getImageDimensions(data, mimeType) ?? undefined);
      return [truncateToWidth(fallbackColor(text), width)];
    }
    const options = { maxWidthCells: images.maxWidthCells, imageId: this.#imageId };
    this.#image ??= new Image(data, mimeType, { fallbackColor }, options);
    return this.#image.render(width);
  }
}
