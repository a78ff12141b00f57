import type { Component } from "../component.ts";
import { getCapabilities } from "../terminal/capabilities.ts";
import { getImageDimensions, type ImageDimensions } from "../terminal/image-size.ts";
import { allocateImageId, getCellDimensions, imageFallback, renderImage } from "../terminal/images.ts";
import { truncateToWidth } from "../text/truncate.ts";

export interface ImageTheme {
  /** For the line of text, where no image can be shown. */
  fallbackColor: (text: string) => string;
}

export interface ImageOptions {
  /** Default 60. */
  maxWidthCells?: number;
  /** Default: as high as the greatest width, in pixels. */
  maxHeightCells?: number;
  /** Shown where the image cannot be. */
  filename?: string;
  /** Kitty: takes the place of the image with this id. By default the image gets one when it is first drawn. */
  imageId?: number;
}

/** For an image whose size cannot be read. */
const unknownDimensions: ImageDimensions = { widthPx: 800, heightPx: 600 };

/** An image, or a line that says what it is. */
export class Image implements Component {
  readonly #base64Data: string;
  readonly #mimeType: string;
  readonly #theme: ImageTheme;
  readonly #options: ImageOptions;
  readonly #dimensions: ImageDimensions;
  #imageId: number | undefined;
  #rendered: { width: number; lines: string[] } | undefined;

  constructor(
    base64Data: string,
    mimeType: string,
    theme: ImageTheme,
    options: ImageOptions = {},
    dimensions?: ImageDimensions,
  ) {
    this.#base64Data = base64Data;
    this.#mimeType = mimeType;
    this.#theme = theme;
    this.#options = options;
    this.#dimensions = dimensions ?? getImageDimensions(base64Data, mimeType) ?? unknownDimensions;
    this.#imageId = options.imageId;
  }

  /** The id by which a terminal with Kitty's protocol knows the image, once it is drawn. */
  getImageId(): number | undefined {
    return this.#imageId;
  }

  invalidate(): void {
    this.#rendered = undefined;
  }

  render(width: number): string[] {
    if (this.#rendered?.width !== width) this.#rendered = { width, lines: this.#draw(width) };
    return this.#rendered.lines;
  }

  #draw(width: number): string[] {
    const { images } = getCapabilities();
    // The protocol knows no other format, and a terminal would leave the rows empty.
    const isShown = images === "iterm2" || (images === "kitty" && this.#mimeType === "image/png");
    if (isShown && images === "kitty") this.#imageId ??= allocateImageId();
    const maxWidthCells = Math.max(1, Math.min(width - 2, this.#options.maxWidthCells ?? 60));
    const cell = getCellDimensions();
    const image = isShown
      ? renderImage(this.#base64Data, this.#dimensions, {
          maxWidthCells,
          maxHeightCells: this.#options.maxHeightCells ?? Math.ceil((maxWidthCells * cell.widthPx) / cell.heightPx),
          ...(this.#imageId === undefined ? {} : { imageId: this.#imageId }),
          moveCursor: false,
        })
      : null;
    if (!image) {
      const text = imageFallback(this.#mimeType, this.#dimensions, this.#options.filename);
      return [truncateToWidth(this.#theme.fallbackColor(text), width)];
    }
    const blank = Array.from({ length: image.rows - 1 }, () => "");
    // Kitty leaves the cursor. iTerm2 moves it below the image, so that the image has to come with the last row.
    if (images === "kitty") return [image.sequence, ...blank];
    return [...blank, (blank.length > 0 ? `\x1b[${blank.length}A` : "") + image.sequence];
  }
}
