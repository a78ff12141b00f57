/** Reads the title out of what a model answered. Pure. */
import { toVisibleLine } from "../kit/visible-text.ts";

const maxTitleLength = 60;

/** Undefined if the answer has no title in it. */
export function parseTitle(answer: string): string | undefined {
  const lines = answer.split("\n").map((line) => toVisibleLine(line, 200));
  const line = lines.find((text) => text !== "" && !text.startsWith("```"));
  const title = line?.replace(/^[#*\-\s]*(?:title\s*:\s*)?/i, "").replaceAll(/^[\s"'`“„«*]+|[\s"'`”“»*.]+$/gu, "");
  if (title === undefined || title === "") return undefined;
  return title.length > maxTitleLength ? cutAtWord(title) : title;
}

/** Cuts before the word that is too much, or inside of it if there is only one. */
function cutAtWord(title: string): string {
  const start = [...title].slice(0, maxTitleLength).join("");
  const end = start.lastIndexOf(" ");
  return `${end > 0 ? start.slice(0, end) : start}…`;
}
