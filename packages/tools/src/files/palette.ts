/** The colours that an image mostly has. Pure. */

export interface PaletteColour {
  /** Such as `#ff8800`. */
  readonly colour: string;
  /** A part of the pixels that can be seen, from 0 to 1. */
  readonly share: number;
}

const maxColours = 6;
const minAlpha = 128;

/** `pixels` are red, green, blue and alpha of each. Similar colours are one, with their average. */
export function getPalette(pixels: Uint8Array): PaletteColour[] {
  const groups = new Map<number, { count: number; sum: [number, number, number] }>();
  let total = 0;
  for (let index = 0; index + 3 < pixels.length; index += 4) {
    const [red, green, blue, alpha] = [pixels[index]!, pixels[index + 1]!, pixels[index + 2]!, pixels[index + 3]!];
    if (alpha < minAlpha) continue;
    total++;
    const key = ((red >> 5) << 6) | ((green >> 5) << 3) | (blue >> 5);
    const group = groups.get(key) ?? { count: 0, sum: [0, 0, 0] };
    group.count++;
    group.sum = [group.sum[0] + red, group.sum[1] + green, group.sum[2] + blue];
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .slice(0, maxColours)
    .map(({ count, sum }) => ({
      colour: `#${sum
        .map((value) =>
          Math.round(value / count)
            .toString(16)
            .padStart(2, "0"),
        )
        .join("")}`,
      share: count / total,
    }));
}
