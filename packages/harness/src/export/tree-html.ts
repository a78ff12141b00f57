/**
 * The tree at the side of the page. A chain of entries is one flat list. At a fork the list continues with the main child
 * and the other children are folded lists inside it. The main child is the one on the current branch, else the one with the
 * most descendants, so that lists are nested no deeper than the logarithm of the number of entries.
 */
import type { EntryHtml } from "./entry-html.ts";
import type { Outline } from "./source.ts";
import { escapeHtml, excerpt, formatCount } from "./text.ts";

/** The id of an entry on the page. */
export const toAnchor = (index: number): string => `e${index}`;

export function treeHtml(outline: Outline, entries: readonly EntryHtml[]): string {
  const sizes = getSizes(outline);
  const { children, isCurrent, roots } = outline;
  const getMain = (siblings: readonly number[]) =>
    siblings.reduce((main, sibling) => {
      if (isCurrent[main] !== isCurrent[sibling]) return isCurrent[main] ? main : sibling;
      return sizes[sibling]! >= sizes[main]! ? sibling : main;
    });

  const chainHtml = (start: number): string => {
    const items: string[] = [];
    for (let index: number | undefined = start; index !== undefined;) {
      items.push(itemHtml(outline, index, entries[index]!));
      const siblings: readonly number[] = children[index]!;
      index = siblings.length > 0 ? getMain(siblings) : undefined;
      for (const sibling of siblings) if (sibling !== index) items.push(branchHtml(sibling));
    }
    return items.join("\n");
  };
  const branchHtml = (start: number): string => {
    const size = sizes[start]!;
    const summary = `Branch of ${formatCount(size)} ${size === 1 ? "entry" : "entries"}`;
    return `<li class="branch"><details><summary>${summary}</summary><ol>\n${chainHtml(start)}\n</ol></details></li>`;
  };
  if (roots.length === 0) return "";
  const main = getMain(roots);
  const others = roots.filter((root) => root !== main).map(branchHtml);
  return `<ol>\n${[...others, chainHtml(main)].join("\n")}\n</ol>`;
}

/** The number of entries in the subtree of each. Children come after their parents, so one pass from the end is enough. */
function getSizes({ parents }: Outline): number[] {
  const sizes = parents.map(() => 1);
  for (let index = parents.length - 1; index >= 0; index--) {
    const parent = parents[index]!;
    if (parent >= 0) sizes[parent]! += sizes[index]!;
  }
  return sizes;
}

function itemHtml({ children, isCurrent, labels, leaf }: Outline, index: number, entry: EntryHtml): string {
  const label = labels.get(index);
  const isFork = children[index]!.length > 1;
  const isMinor = entry.isMinor && label === undefined && !isFork;
  const classes = [entry.kind, isCurrent[index] && "on", isMinor && "minor", entry.isError && "failed"].filter(Boolean);
  const parts = [
    isFork ? `<b class="fork" title="Fork">⑂</b> ` : "",
    label === undefined ? "" : `<b class="label">${escapeHtml(excerpt(label, 40))}</b> `,
    escapeHtml(excerpt(entry.preview, 60) || excerpt(entry.title, 60)),
  ];
  const current = index === leaf ? ' aria-current="true"' : "";
  return `<li class="${classes.join(" ")}"><a href="#${toAnchor(index)}"${current}>${parts.join("")}</a></li>`;
}
