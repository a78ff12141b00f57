/** A session as one HTML file that needs nothing else. */
import { type Card, createCard } from "./card.ts";
import type { ExportHtmlOptions } from "./html.ts";
import { pageHtml } from "./page.ts";
import { note } from "./content-html.ts";
import { entriesIn, type ExportSource, type Outline, createOutline, reattachedText } from "./source.ts";
import { countText, escapeHtml, excerpt, toFields, html, getText, timeText } from "./text.ts";
import { costText, getTotals } from "./totals.ts";
import { toAnchor, treeHtml } from "./tree-html.ts";

export function createSessionHtml(source: ExportSource, { maxResultChars = 100_000 }: ExportHtmlOptions = {}): string {
  const outline = createOutline(source);
  const cards = outline.entries.map((entry) => createCard(entry, { maxResultChars, answered: outline.answered }));
  const title = excerpt(outline.name, 200) || `Session ${excerpt(getText(toFields(source.header).id), 60)}`;
  return pageHtml({
    title: escapeHtml(title),
    facts: factsHtml(source),
    tree: treeHtml(outline, cards),
    cards: cards.map((card, at) => articleHtml(outline, at, card)).join("\n"),
  });
}

function factsHtml(source: ExportSource): string {
  const header = toFields(source.header);
  const { models, messages, input, output, cacheRead, cacheWrite, cost, lastActive } = getTotals(entriesIn(source));
  const tokens = [
    `${countText(input)} in`,
    `${countText(output)} out`,
    `${countText(cacheRead)} read from and ${countText(cacheWrite)} written to caches`,
  ];
  const facts: [name: string, text: string][] = [
    ["Folder", getText(header.cwd)],
    ["Started", timeText(header.timestamp)],
    ["Last entry", timeText(lastActive)],
    ["Models", models.join(", ")],
    ["Messages", countText(messages)],
    ["Tokens", tokens.join(", ")],
    ["Cost", costText(cost)],
    ["Session", getText(header.id)],
  ];
  return facts
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `<div><dt>${name}</dt><dd>${escapeHtml(excerpt(text, 400))}</dd></div>`)
    .join("\n");
}

/** Cards of other branches are there too, hidden: parents stand before children, so that any branch is in order. */
function articleHtml(outline: Outline, at: number, card: Card): string {
  const { entries, parents, isReattached, isCurrent, labels } = outline;
  const label = labels.get(at);
  const head = [
    `<b>${html(card.title)}</b>`,
    label === undefined ? "" : `<span class="label">${html(label)}</span>`,
    `<time>${html(timeText(entries[at]!.timestamp))}</time>`,
  ];
  const classes = card.isError ? `${card.kind} failed` : card.kind;
  const hidden = isCurrent[at] ? "" : " hidden";
  return `<article id="${toAnchor(at)}" class="${classes}" data-parent="${parents[at]}"${hidden}>
<header>${head.join("")}</header>
${isReattached[at] ? `${note(reattachedText)}\n` : ""}${card.html}
</article>`;
}
