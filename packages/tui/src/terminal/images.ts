/** Images in the terminal: by the protocol of Kitty, by that of iTerm2, or as a line of text. */
import { randomInt } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { getCapabilities } from "./capabilities.ts";
import { hyperlink } from "./hyperlink.ts";
import type { ImageDimensions } from "./image-size.ts";

/** The size of one cell of the terminal. */
export interface CellDimensions {
  widthPx: number;
  heightPx: number;
}

export interface ImageRenderOptions {
  /** Default 80. */
  maxWidthCells?: number;
  maxHeightCells?: number;
  /** Default true. Only iTerm2 can do otherwise. */
  preserveAspectRatio?: boolean;
  /** Kitty: takes the place of the image with this id. */
  imageId?: number;
  /** Kitty: whether the cursor moves behind the image. Default true. */
  moveCursor?: boolean;
}

const usualCell: CellDimensions = { widthPx: 9, heightPx: 18 };
let cell = usualCell;

export const getCellDimensions = (): CellDimensions => cell;

/** Sets the size that the terminal answered; until then it is a guess. */
export function setCellDimensions(dimensions: CellDimensions): void {
  cell = dimensions;
}

/** An id for an image. Processes that share a terminal do not know of each other, so it is random. */
export const allocateImageId = (): number => randomInt(1, 2 ** 32);

/** The protocol takes no more data in one command. */
const maxChunkLength = 4_096;

/** Transmits and shows a PNG. The terminal answers nothing. */
export function encodeKitty(
  base64Data: string,
  options: { columns?: number; rows?: number; imageId?: number; moveCursor?: boolean } = {},
): string {
  const { columns, rows, imageId, moveCursor = true } = options;
  const keys = [
    "a=T,f=100,q=2",
    moveCursor ? "" : "C=1",
    columns ? `c=${columns}` : "",
    rows ? `r=${rows}` : "",
    imageId ? `i=${imageId}` : "",
  ];
  const control = keys.filter((key) => key !== "").join(",");
  const data = toBase64(base64Data);
  if (data.length <= maxChunkLength) return `\x1b_G${control};${data}\x1b\\`;
  const commands: string[] = [];
  for (let index = 0; index < data.length; index += maxChunkLength) {
    const more = index + maxChunkLength < data.length ? "m=1" : "m=0";
    const chunk = data.slice(index, index + maxChunkLength);
    commands.push(`\x1b_G${index === 0 ? `${control},` : ""}${more};${chunk}\x1b\\`);
  }
  return commands.join("");
}

/** Removes an image from the screen and from the terminal's memory. */
export const deleteKittyImage = (imageId: number): string => `\x1b_Ga=d,d=I,i=${imageId},q=2\x1b\\`;

/** Where an image is shown whose data the terminal has: in so many cells, and which of its pixels. */
interface KittyPlacement {
  placementId: number;
  columns: number;
  rows: number;
  source: { x?: number; y?: number; width?: number; height?: number };
}

/** Shows an image, or a part of it, at the cursor, which stays. */
export function placeKittyImage(imageId: number, { placementId, columns, rows, source }: KittyPlacement): string {
  const keys = { i: imageId, p: placementId, c: columns, r: rows };
  const pixels = { x: source.x, y: source.y, w: source.width, h: source.height };
  const pairs = Object.entries({ ...keys, ...pixels }).flatMap(([key, value]) => (value ? `${key}=${value}` : []));
  return `\x1b_Ga=p,q=2,C=1,${pairs.join(",")}\x1b\\`;
}

/** Removes one placement of an image from the screen. The terminal keeps the data. */
export const deleteKittyPlacement = (imageId: number, placementId: number): string =>
  `\x1b_Ga=d,d=i,i=${imageId},p=${placementId},q=2\x1b\\`;

export const deleteAllKittyImages = (): string => "\x1b_Ga=d,d=A,q=2\x1b\\";

/** Shows an image of any format. A size is a number of cells, or what iTerm2 knows: `auto`, `50%`, `10px`. */
export function encodeITerm2(
  base64Data: string,
  options: {
    width?: number | string;
    height?: number | string;
    name?: string;
    preserveAspectRatio?: boolean;
    inline?: boolean;
  } = {},
): string {
  const { width, height, name, preserveAspectRatio = true, inline = true } = options;
  const data = toBase64(base64Data);
  const fields = [
    `inline=${inline ? 1 : 0}`,
    `size=${Buffer.byteLength(data, "base64")}`,
    width === undefined ? "" : `width=${width}`,
    height === undefined ? "" : `height=${height}`,
    name === undefined ? "" : `name=${Buffer.from(name).toString("base64")}`,
    preserveAspectRatio ? "" : "preserveAspectRatio=0",
  ];
  return `\x1b]1337;File=${fields.filter((field) => field !== "").join(";")}:${data}\x07`;
}

/** Anything else could end the sequence and continue as commands for the terminal. */
const toBase64 = (data: string): string => (/[^\w+/=-]/.test(data) ? data.replace(/[^\w+/=-]/g, "") : data);

/** How many cells an image takes that is as large as it may be. */
function calculateImageCellSize(
  dimensions: ImageDimensions,
  maxWidthCells: number,
  maxHeightCells: number | undefined,
  cellDimensions: CellDimensions,
): { columns: number; rows: number } {
  const maxColumns = Math.max(1, Math.floor(maxWidthCells));
  const width = Math.max(1, dimensions.widthPx);
  const height = Math.max(1, dimensions.heightPx);
  const maxRows = maxHeightCells === undefined ? Infinity : Math.max(1, Math.floor(maxHeightCells));
  const scale = Math.min((maxColumns * cellDimensions.widthPx) / width, (maxRows * cellDimensions.heightPx) / height);
  const toCells = (pixels: number, cellPixels: number, max: number) =>
    Math.max(1, Math.min(max, Math.ceil((pixels * scale) / cellPixels)));
  return {
    columns: toCells(width, cellDimensions.widthPx, maxColumns),
    rows: toCells(height, cellDimensions.heightPx, maxRows),
  };
}

/** How many rows an image takes that is so many columns wide, in cells of 9 by 18 pixels if none are given. */
export const calculateImageRows = (
  dimensions: ImageDimensions,
  targetWidthCells: number,
  cellDimensions: CellDimensions = usualCell,
): number => calculateImageCellSize(dimensions, targetWidthCells, undefined, cellDimensions).rows;

/** Returns what shows the image at the cursor, and the cells it takes; null if the terminal shows no images. */
export function renderImage(
  base64Data: string,
  imageDimensions: ImageDimensions,
  options: ImageRenderOptions = {},
): { sequence: string; columns: number; rows: number; imageId?: number } | null {
  const { images } = getCapabilities();
  if (!images) return null;
  const { maxWidthCells = 80, maxHeightCells, preserveAspectRatio = true, imageId, moveCursor = true } = options;
  const size = calculateImageCellSize(imageDimensions, maxWidthCells, maxHeightCells, cell);
  if (images === "iterm2") {
    const sequence = encodeITerm2(base64Data, { width: size.columns, height: "auto", preserveAspectRatio });
    return { sequence, ...size };
  }
  const id = imageId === undefined ? {} : { imageId };
  return { sequence: encodeKitty(base64Data, { ...size, ...id, moveCursor }), ...size, ...id };
}

/** The line that stands for an image where none can be shown. An absolute path is short, and a link if possible. */
export function imageFallback(mimeType: string, dimensions?: ImageDimensions, filename?: string): string {
  const parts = [
    filename ? formatPath(filename) : "",
    `[${toPlain(mimeType)}]`,
    dimensions ? `${dimensions.widthPx}x${dimensions.heightPx}` : "",
  ];
  return `[Image: ${parts.filter((part) => part !== "").join(" ")}]`;
}

function formatPath(path: string): string {
  if (!isAbsolute(path)) return toPlain(path);
  const home = homedir();
  const isInHome = path === home || path.startsWith(home + sep);
  const label = toPlain(isInHome ? `~${path.slice(home.length)}` : path);
  return getCapabilities().hyperlinks ? hyperlink(label, pathToFileURL(path).href) : label;
}

const toPlain = (text: string): string => text.replace(/\p{Cc}/gu, "");
