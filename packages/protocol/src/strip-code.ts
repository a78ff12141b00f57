/** Replaces code in a text by blanks. Pure, and linear in the length of the text: users paste whole files. */

/** Fenced code and code between backticks become blanks, so that all other characters keep their positions. */
export const stripCode = (text: string): string => stripSpans(stripFences(text));

/** A fence ends at a fence of the same character that is at least as long, or at the end of the text. */
function stripFences(text: string): string {
  let openFence: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      // With another backtick in the line it is code between backticks.
      const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
      if (openFence === undefined) {
        openFence = fence;
        return fence === undefined ? line : toBlanks(line);
      }
      if (fence?.startsWith(openFence)) openFence = undefined;
      return toBlanks(line);
    })
    .join("\n");
}

/** A span ends at the next run of as many backticks; without one it is not a span. */
function stripSpans(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => ({ length: ticks.length, index, closing: -1 }));
  const nextByLength = new Map<number, number>();
  for (let run = runs.length - 1; run >= 0; run--) {
    const { length } = runs[run]!;
    runs[run]!.closing = nextByLength.get(length) ?? -1;
    nextByLength.set(length, run);
  }
  const pieces: string[] = [];
  let position = 0;
  for (let run = 0; run < runs.length; run++) {
    const { index, closing } = runs[run]!;
    if (closing < 0) continue;
    const end = runs[closing]!.index + runs[closing]!.length;
    pieces.push(text.slice(position, index), toBlanks(text.slice(index, end)));
    position = end;
    run = closing;
  }
  return pieces.join("") + text.slice(position);
}

const toBlanks = (text: string) => text.replaceAll(/[^\n]/g, " ");
