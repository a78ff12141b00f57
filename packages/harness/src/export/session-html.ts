/** Puts the page of a session together: its metadata, its tree, and all of its entries. */
import { codeHtml, type ContentOptions, dataHtml, note } from "./content-html.ts";
import { createEntryHtml, type EntryHtml } from "./entry-html.ts";
import { pageHtml } from "./page.ts";
import {
  createOutline,
  type ExportedRequest,
  type ExportSource,
  getEntries,
  type Outline,
  reattachedText,
} from "./source.ts";
import { escapeHtml, excerpt, formatCount, formatTime, toText, html, toFields } from "./text.ts";
import { formatCost, getTotals } from "./totals.ts";
import { toAnchor, treeHtml } from "./tree-html.ts";

export interface ExportHtmlOptions {
  /** Longer outputs, arguments and data are cut, and the page says so. Characters; default 100,000. */
  maxResultChars?: number;
}

export function createSessionHtml(source: ExportSource, { maxResultChars = 100_000 }: ExportHtmlOptions = {}): string {
  const outline = createOutline(source);
  const entries = outline.entries.map((entry) =>
    createEntryHtml(entry, { maxResultChars, answeredCalls: outline.answeredCalls }),
  );
  const title = excerpt(outline.name, 200) || `Session ${excerpt(toText(toFields(source.header).id), 60)}`;
  return pageHtml({
    title: escapeHtml(title),
    metadata: metadataHtml(source),
    tree: treeHtml(outline, entries),
    request: source.request ? requestHtml(source.request, { maxResultChars }) : "",
    entries: entries.map((entry, index) => articleHtml(outline, index, entry)).join("\n"),
  });
}

function metadataHtml(source: ExportSource): string {
  const header = toFields(source.header);
  const { models, messages, input, output, cacheRead, cacheWrite, cost, lastActive } = getTotals(getEntries(source));
  const tokens = [
    `${formatCount(input)} in`,
    `${formatCount(output)} out`,
    `${formatCount(cacheRead)} read from and ${formatCount(cacheWrite)} written to caches`,
  ];
  const rows: [name: string, text: string][] = [
    ["Folder", toText(header.cwd)],
    ["Started", formatTime(header.timestamp)],
    ["Last entry", formatTime(lastActive)],
    ["Models", models.join(", ")],
    ["Messages", formatCount(messages)],
    ["Tokens", tokens.join(", ")],
    ["Cost", formatCost(cost)],
    ["Session", toText(header.id)],
  ];
  return rows
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `<div><dt>${name}</dt><dd>${escapeHtml(excerpt(text, 400))}</dd></div>`)
    .join("\n");
}

/** The system prompt and the tools, folded: they are the same for all entries. */
function requestHtml({ systemPrompt, tools }: ExportedRequest, options: ContentOptions): string {
  const prompt = `<details><summary>System prompt</summary>${codeHtml(systemPrompt, options)}</details>`;
  const listed = tools.map(
    ({ name, description, parameters }) =>
      `<li><b>${html(name)}</b>${note(description)}${dataHtml("Parameters", parameters, options)}</li>`,
  );
  const list = `<details><summary>Tools (${formatCount(tools.length)})</summary><ul>${listed.join("")}</ul></details>`;
  return `<section class="request">${prompt}${tools.length === 0 ? "" : list}</section>\n`;
}

/** Entries of other branches are in the page too, hidden. A parent comes before its children, so any branch is in order. */
function articleHtml(outline: Outline, index: number, entry: EntryHtml): string {
  const { entries, parents, isReattached, isCurrent, labels } = outline;
  const label = labels.get(index);
  const head = [
    `<b>${html(entry.title)}</b>`,
    label === undefined ? "" : `<span class="label">${html(label)}</span>`,
    `<time>${html(formatTime(entries[index]!.timestamp))}</time>`,
  ];
  const classes = entry.isError ? `${entry.kind} failed` : entry.kind;
  const hidden = isCurrent[index] ? "" : " hidden";
  return `<article id="${toAnchor(index)}" class="${classes}" data-parent="${parents[index]}"${hidden}>
<header>${head.join("")}</header>
${isReattached[index] ? `${note(reattachedText)}\n` : ""}${entry.html}
</article>`;
}
