/** Patterns of the shell. Pure. */

/** A pattern as a regular expression for a whole text, without anything that could take long: a star matches greedily. */
export function toRegExp(pattern: string): RegExp {
  let source = "";
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index]!;
    if (char === "*") {
      if (!source.endsWith(".*")) source += ".*";
    } else if (char === "?") source += ".";
    else if (char === "[") {
      const end = pattern.indexOf("]", index + 2);
      if (end === -1) source += "\\[";
      else {
        source += toClass(pattern.slice(index + 1, end));
        index = end;
      }
    } else if (char === "\\" && index + 1 < pattern.length) source += escape(pattern[++index]!);
    else source += escape(char);
  }
  return new RegExp(`^${source}$`, "s");
}

function toClass(body: string): string {
  const isNegated = /^[!^]/.test(body);
  const text = (isNegated ? body.slice(1) : body).replace(/[\\\]^[]/g, "\\$&");
  const isOrdered = [...text.matchAll(/([^\\])-([^\\])/g)].every(([, from, to]) => from! <= to!);
  return isOrdered && text !== "" ? `[${isNegated ? "^" : ""}${text}]` : ".";
}

const escape = (char: string) => char.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

export const hasPattern = (text: string): boolean => /[*?[]/.test(text);
