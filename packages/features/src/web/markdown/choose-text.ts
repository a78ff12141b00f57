/** Chooses the part of a page that is its text. Pure. */

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** An element that may hold the text of the page, as a range of blocks. */
export interface Region extends Range {
  readonly kind: "main" | "article" | "content";
}

interface PageBlocks {
  /** How many characters of text each block has. */
  readonly lengths: readonly number[];
  readonly regions: readonly Region[];
  /** Ranges around the text, such as menus. They may overlap. */
  readonly surroundings: readonly Range[];
}

/** A main element is taken from this share of the text on, or if it has this many characters. */
const minMain = { share: 0.25, length: 500 };
const minArticleShare = 0.5;
const minContentShare = 0.6;
/** With less of the page left than this, what seemed to be around the text is the text. */
const minLeftShare = 0.1;

/** Returns the numbers of the blocks that are the text, in order. */
export function chooseText({ lengths, regions, surroundings }: PageBlocks): number[] {
  const count = lengths.length;
  const depths = countRanges(count, surroundings);
  let all = 0;
  let inner = 0;
  for (let index = 0; index < count; index++) {
    all += lengths[index]!;
    if (depths[index] === 0) inner += lengths[index]!;
  }
  if (inner < all * minLeftShare) depths.fill(0);
  /** The text before each block, and at the end all of it. */
  const before = new Float64Array(count + 1);
  for (let index = 0; index < count; index++)
    before[index + 1] = before[index]! + (depths[index] === 0 ? lengths[index]! : 0);
  const { start, end } = chooseRange(regions, { before, total: before[count]! }) ?? { start: 0, end: count };
  const chosen: number[] = [];
  for (let index = start; index < end; index++) if (depths[index] === 0) chosen.push(index);
  return chosen;
}

function chooseRange(
  regions: readonly Region[],
  { before, total }: { before: Float64Array; total: number },
): Range | undefined {
  const measure = ({ start, end }: Range): number => before[end]! - before[start]!;
  const findLargest = (kind: Region["kind"]): { region: Region; length: number } | undefined => {
    let best: { region: Region; length: number } | undefined;
    for (const region of regions) {
      if (region.kind !== kind) continue;
      const length = measure(region);
      if (!best || length > best.length) best = { region, length };
    }
    return best;
  };
  const main = findLargest("main");
  if (main && main.length > 0 && (main.length >= total * minMain.share || main.length >= minMain.length))
    return main.region;
  const article = findLargest("article");
  if (article && article.length > 0 && article.length >= total * minArticleShare) return article.region;
  // The innermost one: the elements around it hold more than the text.
  let content: Range | undefined;
  for (const region of regions) {
    if (region.kind !== "content" || measure(region) === 0 || measure(region) < total * minContentShare) continue;
    if (!content || region.end - region.start <= content.end - content.start) content = region;
  }
  return content;
}

/** Says in how many of the ranges each block is, however many there are. */
function countRanges(count: number, ranges: readonly Range[]): Int32Array {
  const depths = new Int32Array(count + 1);
  for (const { start, end } of ranges) {
    depths[start]! += 1;
    depths[end]! -= 1;
  }
  for (let index = 1; index <= count; index++) depths[index]! += depths[index - 1]!;
  return depths;
}
