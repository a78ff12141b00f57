/** Finds JSON in the answer of a model. Pure. */

/** A value in an answer. It is wrapped because it may be null. */
interface FoundJson {
  readonly value: unknown;
}

/** Later values of the same kind are not looked at. */
const maxValues = 20;
/** The most characters that are read in search of JSON between other text. Texts may be made of opening brackets. */
const maxSteps = 20_000_000;

/**
 * Lists the JSON values of a text, the most likely answer first: the whole text, then fenced blocks from the last to the
 * first, then objects and lists between other text from the last to the first.
 */
export function* findJson(text: string): Generator<FoundJson> {
  const whole = parse(text);
  if (whole) return yield whole;
  yield* parseAll(findFencedBlocks(text));
  yield* parseAll(findBracketed(text));
}

function* parseAll(texts: readonly string[]): Generator<FoundJson> {
  for (const text of texts.slice(-maxValues).toReversed()) {
    const found = parse(text);
    if (found) yield found;
  }
}

function parse(text: string): FoundJson | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // Not JSON, which is expected of most texts.
    return undefined;
  }
}

/** A fence is a line of its own, so it cannot be inside a JSON string. */
function findFencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  let lines: string[] | undefined;
  for (const line of text.split("\n")) {
    const isFence = line.trimStart().startsWith("```");
    if (!isFence) lines?.push(line);
    else if (lines) {
      blocks.push(lines.join("\n"));
      lines = undefined;
    } else lines = [];
  }
  if (lines) blocks.push(lines.join("\n"));
  return blocks;
}

/** Finds outermost `{…}` and `[…]`. */
function findBracketed(text: string): string[] {
  const values: string[] = [];
  let steps = 0;
  const opening = /[{[]/g;
  for (let match = opening.exec(text); match && steps < maxSteps; match = opening.exec(text)) {
    const { end, read } = findEnd(text, match.index, maxSteps - steps);
    steps += read;
    if (end === undefined) continue;
    values.push(text.slice(match.index, end));
    opening.lastIndex = end;
  }
  return values;
}

/** Finds the end of what opens at `start`; undefined if it is not closed within `maxRead` characters. */
function findEnd(text: string, start: number, maxRead: number): { end: number | undefined; read: number } {
  const limit = Math.min(text.length, start + maxRead);
  let depth = 0;
  let isString = false;
  for (let index = start; index < limit; index++) {
    const char = text[index];
    if (isString) {
      if (char === "\\") index++;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return { end: index + 1, read: index + 1 - start };
  }
  return { end: undefined, read: limit - start };
}
