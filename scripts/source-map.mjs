/**
 * Builds one source map for a file that is put together from esbuild's chunks. It has only lines, which is what a stack
 * needs, and no sources: it is a quarter of one with columns, and is read only when a stack is shown.
 */
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Takes the chunks in the order of the file: their map, the line of the file where they begin, and `move`. */
export function joinSourceMaps(chunks, toSource) {
  const sources = [];
  const lines = [];
  for (const { map, firstLine, move } of chunks) {
    const offset = sources.length;
    sources.push(...map.sources.map(toSource));
    let [source, line] = [0, 0];
    for (const [index, text] of map.mappings.split(";").entries()) {
      let [column, previous] = [0, ""];
      for (const segment of text === "" ? [] : text.split(",")) {
        const [columnStep, sourceStep = 0, lineStep = 0] = decode(segment);
        column += columnStep;
        source += sourceStep;
        line += lineStep;
        const position = `${source}:${line}`;
        if (position !== previous) (lines[firstLine + index] ??= []).push([move(index, column), source + offset, line]);
        previous = position;
      }
    }
  }
  return JSON.stringify({ version: 3, sources, names: [], mappings: encodeLines(lines) });
}

function encodeLines(lines) {
  let [source, line] = [0, 0];
  const encoded = [];
  for (let index = 0; index < lines.length; index++) {
    let column = 0;
    const segments = (lines[index] ?? []).map((segment) => {
      const steps = [segment[0] - column, segment[1] - source, segment[2] - line, 0];
      [column, source, line] = segment;
      return steps.map(encode).join("");
    });
    encoded.push(segments.join(","));
  }
  return encoded.join(";");
}

/** Variable-length numbers: the sign is the lowest bit, and each digit has five bits and one that says if more follow. */
function decode(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function encode(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
