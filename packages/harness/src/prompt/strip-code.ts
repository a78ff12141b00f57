/** What of a text is prose. Pure, and linear in its length: people paste whole files. */

/** The text with blanks in the place of code, fenced or between backticks, so that nothing moves. */
export const withoutCode = (text: string): string => withoutSpans(withoutFences(text));

/** A fence ends at one of the same signs that is as long, or with the text. */
function withoutFences(text: string): string {
  let open: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (open === undefined) {
        open = fence;
        return fence === undefined ? line : blank(line);
      }
      if (fence?.startsWith(open)) open = undefined;
      return blank(line);
    })
    .join("\n");
}

/** A span ends at the next run of as many backticks; one that never ends is no span. */
function withoutSpans(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => ({ length: ticks.length, index, partner: -1 }));
  const nextOfLength = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at]!;
    run.partner = nextOfLength.get(run.length) ?? -1;
    nextOfLength.set(run.length, at);
  }
  const pieces: string[] = [];
  let done = 0;
  for (let at = 0; at < runs.length; at++) {
    const { index, partner } = runs[at]!;
    if (partner < 0) continue;
    const end = runs[partner]!.index + runs[partner]!.length;
    pieces.push(text.slice(done, index), blank(text.slice(index, end)));
    done = end;
    at = partner;
  }
  return pieces.join("") + text.slice(done);
}

const blank = (text: string) => text.replaceAll(/[^\n]/g, " ");
