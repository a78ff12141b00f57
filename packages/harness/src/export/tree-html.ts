/**
 * The tree at the side. A chain of entries is one flat list; where it forks, the lesser ways are folded lists inside it and
 * the main one goes on. The main way is the current branch, elsewhere the child with the most below it, so that lists are
 * nested no deeper than the logarithm of the number of entries.
 */
import type { Card } from "./card.ts";
import type { Outline } from "./source.ts";
import { countText, escapeHtml, excerpt } from "./text.ts";

/** What an entry's card is called on the page. */
export const toAnchor = (at: number): string => `e${at}`;

export function treeHtml(outline: Outline, cards: readonly Card[]): string {
  const sizes = getSizes(outline);
  const { children, isCurrent } = outline;
  const getMain = (ways: readonly number[]) =>
    ways.reduce((best, way) => {
      if (isCurrent[best] !== isCurrent[way]) return isCurrent[best] ? best : way;
      return sizes[way]! >= sizes[best]! ? way : best;
    });

  const chainHtml = (start: number): string => {
    const items: string[] = [];
    for (let at: number | undefined = start; at !== undefined;) {
      items.push(itemHtml(outline, at, cards[at]!));
      const ways: readonly number[] = children[at]!;
      at = ways.length > 0 ? getMain(ways) : undefined;
      for (const way of ways) if (way !== at) items.push(branchHtml(way));
    }
    return items.join("\n");
  };
  const branchHtml = (start: number): string => {
    const size = sizes[start]!;
    const about = `Branch of ${countText(size)} ${size === 1 ? "entry" : "entries"}`;
    return `<li class="branch"><details><summary>${about}</summary><ol>\n${chainHtml(start)}\n</ol></details></li>`;
  };
  const { roots } = outline;
  if (roots.length === 0) return "";
  const main = getMain(roots);
  const others = roots.filter((root) => root !== main).map(branchHtml);
  return `<ol>\n${[...others, chainHtml(main)].join("\n")}\n</ol>`;
}

/** How many entries are at and below each. Children stand behind their parents, so that one walk from the end is enough. */
function getSizes({ parents }: Outline): number[] {
  const sizes = parents.map(() => 1);
  for (let at = parents.length - 1; at >= 0; at--) {
    const parent = parents[at]!;
    if (parent >= 0) sizes[parent]! += sizes[at]!;
  }
  return sizes;
}

function itemHtml({ children, isCurrent, labels, leaf }: Outline, at: number, card: Card): string {
  const label = labels.get(at);
  // What a person marked, and where ways part, has to be found among the rest.
  const isMinor = card.isMinor && label === undefined && children[at]!.length < 2;
  const classes = [card.kind, isCurrent[at] && "on", isMinor && "minor", card.isError && "failed"].filter(Boolean);
  const shown = escapeHtml(excerpt(card.brief, 60) || excerpt(card.title, 60));
  const parts = [
    children[at]!.length > 1 ? `<b class="fork" title="Ways part here">⑂</b> ` : "",
    label === undefined ? "" : `<b class="label">${escapeHtml(excerpt(label, 40))}</b> `,
    shown,
  ];
  const current = at === leaf ? ' aria-current="true"' : "";
  return `<li class="${classes.join(" ")}"><a href="#${toAnchor(at)}"${current}>${parts.join("")}</a></li>`;
}
