/** Commands of Kitty's protocol in lines of components: an image is in its first row, and has blank rows below. Pure. */
import { getPngDimensions, type ImageDimensions } from "./terminal/image-size.ts";
import { visibleWidth } from "./text/cells.ts";

export interface KittyImage {
  /** Undefined if the component gave it none. */
  readonly id: number | undefined;
  /** The size in cells. */
  readonly columns: number;
  readonly rows: number;
  /** Undefined if it cannot be known: then no part of the image can be shown without the others. */
  readonly dimensions: ImageDimensions | undefined;
  /** The keys that say what the data is. */
  readonly format: string;
  /** From the semicolon of the first command up to the end of the last. */
  readonly payload: string;
}

interface LineWithImages {
  /** Without commands. */
  readonly text: string;
  readonly images: readonly { readonly column: number; readonly image: KittyImage }[];
}

const start = "\x1b_G";
const end = "\x1b\\";

export const hasKittyCommand = (line: string): boolean => line.includes(start);

/** Commands that do not show an image which they bring along are left out, and so is one that has no end. */
export function parseKittyLine(line: string): LineWithImages {
  const images: { column: number; image: KittyImage }[] = [];
  let text = "";
  let position = 0;
  for (let index = line.indexOf(start); index !== -1; index = line.indexOf(start, position)) {
    text += line.slice(position, index);
    position = findEnd(line, index);
    const image = parseImage(line.slice(index + start.length, position));
    if (image) images.push({ column: visibleWidth(text), image });
  }
  return { text: text + line.slice(position), images };
}

/** The end of a command and of those that continue with its data. */
function findEnd(line: string, index: number): number {
  for (let from = index; ;) {
    const last = line.indexOf(end, from);
    if (last === -1) return line.length;
    const next = last + end.length;
    if (!line.startsWith(`${start}m=`, next)) return next;
    from = next;
  }
}

function parseImage(command: string): KittyImage | undefined {
  const semicolon = command.indexOf(";");
  if (semicolon === -1 || !command.endsWith(end)) return undefined;
  const keys = new Map(command.slice(0, semicolon).split(",").map(toPair));
  const getNumber = (key: string) => (/^\d+$/.test(keys.get(key) ?? "") ? Number(keys.get(key)) : undefined);
  const [columns, rows] = [getNumber("c"), getNumber("r")];
  if (keys.get("a") !== "T" || !columns || !rows) return undefined;
  const payload = command.slice(semicolon);
  const [widthPx, heightPx] = [getNumber("s"), getNumber("v")];
  const dimensions = widthPx && heightPx ? { widthPx, heightPx } : (getPngDimensions(payload.slice(1)) ?? undefined);
  const format = [...keys].filter(([key]) => formatKeys.has(key)).map(([key, value]) => `${key}=${value}`);
  return { id: getNumber("i"), columns, rows, dimensions, format: format.join(","), payload };
}

/** Format, size in pixels, size and offset of the data, medium, compression, and whether more data follows. */
const formatKeys = new Set(["f", "s", "v", "S", "O", "t", "o", "m"]);

const toPair = (pair: string): [string, string] => [pair.slice(0, 1), pair.slice(2)];
