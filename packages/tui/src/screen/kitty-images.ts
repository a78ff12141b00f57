/**
 * Images by Kitty's protocol on a screen of text. Text that is written over an image does not take it away, so an image goes
 * when one of its rows changes. Pure.
 */
import { deleteKittyImage } from "../terminal/images.ts";
import type { Line } from "./line.ts";

const command = /\x1b_G([^;\x1b]*)/;

/** Whether the line shows an image. Its other rows are blank lines below, or above if the line moves up before it draws. */
export const hasKittyImage = ({ text }: Line): boolean => text.includes("\x1b_G");

interface StaleImages {
  /** Takes the images away. Written before anything else. */
  readonly bytes: string;
  /** Rows whose image is gone although they did not change. */
  readonly rows: ReadonlySet<number>;
}

const none: StaleImages = { bytes: "", rows: new Set() };

/** Images of `before` of which a row is different in `lines`. */
export function findStaleImages(before: readonly Line[], lines: readonly Line[]): StaleImages {
  if (!before.some(hasKittyImage)) return none;
  const rows = new Set<number>();
  const stale = before.filter((line, row) => {
    if (!hasKittyImage(line)) return false;
    const height = getNumber(line, "r") ?? 1;
    const start = findStart(before, row, height);
    const end = Math.min(row + height, Math.max(before.length, lines.length));
    const isStale = isDifferent(before, lines, start, end);
    if (isStale && lines[row]?.text === line.text) rows.add(row);
    return isStale;
  });
  return { bytes: deleteImages(stale), rows };
}

/** Takes away all images that the lines show. */
export function deleteImages(lines: readonly Line[]): string {
  const ids = lines.filter(hasKittyImage).map((line) => getNumber(line, "i"));
  return [...new Set(ids)].map((id) => (id === undefined ? "" : deleteKittyImage(id))).join("");
}

function findStart(lines: readonly Line[], row: number, height: number): number {
  let start = row;
  while (start > 0 && row - start + 1 < height && lines[start - 1]?.text === "") start--;
  return start;
}

function isDifferent(before: readonly Line[], lines: readonly Line[], start: number, end: number): boolean {
  for (let row = start; row < end; row++) if (before[row]?.text !== lines[row]?.text) return true;
  return false;
}

function getNumber({ text }: Line, key: string): number | undefined {
  const keys = command.exec(text)?.[1]?.split(",") ?? [];
  const value = keys.find((pair) => pair.startsWith(`${key}=`));
  return value === undefined ? undefined : Number(value.slice(key.length + 1));
}
