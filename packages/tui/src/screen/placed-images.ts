/**
 * Images by Kitty's protocol on a screen whose rows move and are covered. The data of an image is sent once; then those parts
 * of it that are seen are placed, and taken away when they are elsewhere or gone.
 */
import type { VisibleImage } from "../image-layer.ts";
import type { KittyImage } from "../kitty-commands.ts";
import type { LayoutRect } from "../rect.ts";
import { allocateImageId, deleteKittyImage, deleteKittyPlacement, placeKittyImage } from "../terminal/images.ts";

interface ImageChanges {
  /** Takes away what is not where it was. Written before any text. */
  readonly removed: string;
  /** Written after all text, since some terminals take images away where a row is erased. Moves the cursor. */
  readonly placed: string;
}

interface Placement {
  readonly id: number;
  /** Counts from 1 among those of one image. */
  readonly number: number;
  readonly rect: LayoutRect;
  /** Goes to the place and shows the part there. */
  readonly bytes: string;
}

/** How much data the terminal keeps of images that are not visible, in characters: about ten pictures of a screen. */
const maxKeptLength = 32 * 2 ** 20;

const nothing: ImageChanges = { removed: "", placed: "" };

export class PlacedImages {
  /** The data that the terminal has, by the ids of images. The last one was visible last. */
  readonly #sent = new Map<number, string>();
  #placements: readonly Placement[] = [];

  /** `isWritten` says whether a row of the screen is written in this frame. */
  update(images: readonly VisibleImage[], isWritten: (row: number) => boolean): ImageChanges {
    if (images.length === 0 && this.#placements.length === 0) return nothing;
    let sent = "";
    const sentIds = new Set<number>();
    const placements: Placement[] = [];
    for (const { image, rect, parts } of images) {
      if (parts.length === 0) continue;
      const id = image.id ?? this.#findId(image) ?? allocateImageId();
      if (this.#sent.get(id) !== image.payload) {
        if (!isSafe(image)) continue;
        sent += `${deleteKittyImage(id)}\x1b_Ga=t,q=2,i=${id},${image.format}${image.payload}`;
        sentIds.add(id);
      }
      // The last one is the one that was visible last.
      this.#sent.delete(id);
      this.#sent.set(id, image.payload);
      const count = placements.filter((placement) => placement.id === id).length;
      for (const [index, part] of parts.entries()) {
        const source = findSource(image, rect, part);
        if (source) placements.push(toPlacement({ id, number: count + index + 1, rect: part }, source));
      }
    }
    const before = this.#placements;
    this.#placements = placements;
    const isKept = (placement: Placement, other: readonly Placement[]) =>
      !sentIds.has(placement.id) &&
      !hasRow(placement.rect, isWritten) &&
      other.some(({ bytes }) => bytes === placement.bytes);
    const removed = before.filter((placement) => !isKept(placement, placements));
    const placed = placements.filter((placement) => !isKept(placement, before));
    return {
      removed: removed.map(({ id, number }) => deleteKittyPlacement(id, number)).join("") + this.#deleteOld(),
      placed: sent + placed.map(({ bytes }) => bytes).join(""),
    };
  }

  /** Takes away all images, and their data. */
  clear(): string {
    const ids = [...this.#sent.keys()];
    this.#sent.clear();
    this.#placements = [];
    return ids.map(deleteKittyImage).join("");
  }

  #findId({ payload }: KittyImage): number | undefined {
    return [...this.#sent].find(([, sent]) => sent === payload)?.[0];
  }

  #deleteOld(): string {
    const visible = new Set(this.#placements.map(({ id }) => id));
    const hidden = [...this.#sent].filter(([id]) => !visible.has(id));
    let length = hidden.reduce((sum, [, payload]) => sum + payload.length, 0);
    let bytes = "";
    for (const [id, payload] of hidden) {
      if (length <= maxKeptLength) break;
      length -= payload.length;
      this.#sent.delete(id);
      bytes += deleteKittyImage(id);
    }
    return bytes;
  }
}

/**
 * Finds the part of the image that a part shows, in its pixels: nothing for the whole image. Undefined if it is not
 * known.
 */
function findSource({ dimensions }: KittyImage, rect: LayoutRect, part: LayoutRect): Partial<LayoutRect> | undefined {
  if (part.width === rect.width && part.height === rect.height) return {};
  if (!dimensions) return undefined;
  const toPixels = (cells: number, all: number, pixels: number) => Math.round((cells / all) * pixels);
  const toRange = (start: number, size: number, all: number, pixels: number) => {
    const first = Math.min(toPixels(start, all, pixels), pixels - 1);
    return [first, Math.max(1, toPixels(start + size, all, pixels) - first)] as const;
  };
  const [x, width] = toRange(part.x - rect.x, part.width, rect.width, dimensions.widthPx);
  const [y, height] = toRange(part.y - rect.y, part.height, rect.height, dimensions.heightPx);
  return { x, y, width, height };
}

function toPlacement({ id, number, rect }: Omit<Placement, "bytes">, source: Partial<LayoutRect>): Placement {
  const bytes = placeKittyImage(id, { placementId: number, columns: rect.width, rows: rect.height, source });
  return { id, number, rect, bytes: `\x1b[${rect.y + 1};${rect.x + 1}H${bytes}` };
}

function hasRow({ y, height }: LayoutRect, isRow: (row: number) => boolean): boolean {
  for (let row = y; row < y + height; row++) if (isRow(row)) return true;
  return false;
}

/** Anything else than data could end the sequence and continue as commands for the terminal. */
function isSafe({ format, payload }: KittyImage): boolean {
  const commands = payload.split("\x1b\\");
  const isData = (command: string) => !/[^\w+/=-]/.test(command.replace(/^(?:\x1b_Gm=[01])?;/, ""));
  return commands.pop() === "" && commands.every(isData) && /^[\w=,]*$/.test(format);
}
