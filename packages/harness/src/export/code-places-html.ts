/** Places in source files and stops of a debugger as HTML. */
import {
  type CodePlace,
  type DebuggerStop,
  describePlace,
  describeStop,
  formatPlace,
  formatVariable,
  listExcerptLines,
  type ParsedPlaces,
  parsePlaces,
  parseStop,
} from "@tau/protocol/surface";
import { formatCount, html, showHidden } from "./text.ts";

/** The places or the stop in the details of a result; empty if there are none. Places beyond `maxChars` are omitted. */
export function codeDetailsHtml(details: unknown, maxChars: number): string {
  const places = parsePlaces(details);
  const stop = parseStop(details);
  return (places.places.length > 0 ? placesHtml(places, maxChars) : "") + (stop ? stopHtml(stop) : "");
}

function placesHtml({ places, omitted }: ParsedPlaces, maxChars: number): string {
  const rows: string[] = [];
  let chars = 0;
  for (const place of places) {
    const row = `<li>${placeHtml(place)}${excerptHtml(place)}</li>`;
    chars += row.length;
    if (chars > maxChars && rows.length > 0) break;
    rows.push(row);
  }
  const rest = places.length - rows.length + omitted;
  const more = rest > 0 ? `<li class="note">${formatCount(rest)} more places omitted.</li>` : "";
  return `<ul class="places">${rows.join("\n")}${more}</ul>`;
}

function placeHtml(place: CodePlace): string {
  const { severity } = place;
  const description = describePlace(place);
  return [
    `<code>${text(formatPlace(place))}</code>`,
    ...(severity ? [`<b class="severity ${severity}">${severity}</b>`] : []),
    ...(description === "" ? [] : [text(description)]),
  ].join(" ");
}

function excerptHtml(place: CodePlace): string {
  const lines = listExcerptLines(place);
  if (lines.length === 0) return "";
  const numberWidth = String(lines.at(-1)!.number).length;
  const rows = lines.map(({ number, text: code, isCurrent }) => {
    const row = `<i>${isCurrent ? "&gt;" : " "} ${String(number).padStart(numberWidth)}</i> ${line(code)}`;
    return isCurrent ? `<span class="current">${row}</span>` : row;
  });
  return `<pre class="diff">${rows.join("\n")}</pre>`;
}

function stopHtml(stop: DebuggerStop): string {
  const { variables = [], frames = [], output } = stop;
  const place = stop.place ?? frames[0]?.place;
  const rows = frames.map(({ name, place: at }) => `${line(name)}${at ? ` ${line(formatPlace(at))}` : ""}`);
  return [
    `<p class="call">${text(describeStop(stop))}</p>`,
    place ? excerptHtml(place) : "",
    sectionHtml(
      "Variables",
      variables.map((variable) => line(formatVariable(variable))),
    ),
    sectionHtml("Stack", rows),
    sectionHtml("Output", output === undefined ? [] : [html(showHidden(output))]),
  ].join("");
}

/** `rows` are HTML. */
const sectionHtml = (title: string, rows: readonly string[]): string =>
  rows.length === 0 ? "" : `<details><summary>${title}</summary><pre>${rows.join("\n")}</pre></details>`;

/** Escaped, with hidden characters shown. */
const text = (value: string): string => html(showHidden(value));

const line = (value: string): string => text(value).replaceAll("\n", " ");
