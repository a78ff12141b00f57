/** Splits a long answer into messages that a platform takes. Pure. */

interface Fence {
  /** Such as three backticks. */
  readonly marker: string;
  readonly language: string;
}

/** A message must have at least this much space for text beside the fences that it closes and opens again. */
const minTextLength = 40;
const maxLanguageLength = 20;

/**
 * Cuts at the end of a paragraph, else of a line, else of a word. A code block that is cut is closed at the end of one
 * message and opened again in the next. Every message has at most `maxLength` UTF-16 units.
 */
export function splitText(text: string, maxLength: number): string[] {
  const parts: string[] = [];
  let [rest, fence]: [string, Fence | undefined] = [text.trim(), undefined];
  while (rest !== "") {
    const opening: string = fence ? `${fence.marker}${fence.language}\n` : "";
    if (opening.length + rest.length <= maxLength) {
      parts.push(opening + rest);
      break;
    }
    const cut = findCut(rest, { maxLength: maxLength - opening.length, fence });
    const piece = rest.slice(0, cut.end).trimEnd();
    if (piece !== "") parts.push(opening + piece + (cut.fence ? `\n${cut.fence.marker}` : ""));
    fence = cut.fence;
    const remaining: string = rest.slice(cut.end);
    rest = fence ? remaining.replace(/^\n/, "") : remaining.replace(/^\s*\n|^[ \t]+/, "");
  }
  return parts.filter((part) => part.trim() !== "");
}

/** Closes the code block that is open at the end of a text, so that nothing else is read as code. */
export function closeFence(text: string, maxLength: number): string {
  const fence = findOpenFence(text, undefined);
  if (!fence) return text;
  const closing = `\n${fence.marker}`;
  const cut = text.slice(0, toWholeCharacter(text, maxLength - closing.length));
  // The beginning of the code block may have been cut off again.
  return findOpenFence(cut, undefined) ? cut + closing : cut;
}

/** Finds where to cut a text that is too long, and the code block that is open there. */
function findCut(
  text: string,
  { maxLength, fence }: { maxLength: number; fence: Fence | undefined },
): { end: number; fence: Fence | undefined } {
  for (const end of listCuts(text, maxLength)) {
    const open = findOpenFence(text.slice(0, end), fence);
    if (end + (open ? open.marker.length + 1 : 0) <= maxLength) return { end, fence: open };
  }
  // There is no space for the fence: the code block ends here.
  return { end: toWholeCharacter(text, Math.max(1, maxLength)), fence: undefined };
}

/** Lists where a text can be cut, the best place first. Cuts that would leave a message almost empty come last. */
function* listCuts(text: string, maxLength: number): Generator<number> {
  const usable = text.slice(0, maxLength);
  for (const minLength of [maxLength / 3, minTextLength]) {
    for (const separator of ["\n\n", "\n", " "]) {
      for (
        let index = usable.lastIndexOf(separator);
        index >= minLength;
        index = usable.lastIndexOf(separator, index - 1)
      ) {
        yield index;
        // Words are many, and each is as good as the one before it.
        if (separator === " " && index < maxLength - 100) break;
      }
    }
  }
  for (const length of [maxLength, maxLength - 8, maxLength - 16, maxLength - 80]) {
    if (length > 0) yield toWholeCharacter(text, length);
  }
}

/** Takes back a cut between the two halves of a character. */
const toWholeCharacter = (text: string, index: number): number =>
  index > 1 && /[\uD800-\uDBFF]/.test(text[index - 1]!) && /[\uDC00-\uDFFF]/.test(text[index] ?? "")
    ? index - 1
    : index;

/** Finds the code block that is open at the end of a text that begins inside of `fence`. */
function findOpenFence(text: string, fence: Fence | undefined): Fence | undefined {
  let open = fence;
  for (const line of text.split("\n")) {
    const [, marker, info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marker === undefined) continue;
    if (!open) {
      if (marker.startsWith("~") || !info.includes("`")) open = { marker, language: getLanguage(info) };
    } else if (info.trim() === "" && marker[0] === open.marker[0] && marker.length >= open.marker.length) {
      open = undefined;
    }
  }
  return open;
}

const getLanguage = (info: string): string => {
  const [word = ""] = info.trim().split(/\s/);
  return word.length <= maxLanguageLength ? word : "";
};
