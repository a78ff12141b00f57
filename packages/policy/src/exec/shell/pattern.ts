/** Patterns of the shell. Pure. */

/** Patterns with many stars take long on long texts. Extended patterns are not translated at all. */
export const isCheapPattern = (pattern: string, text = ""): boolean =>
  pattern.length <= 256 &&
  !/[@!+*?]\(/.test(pattern) &&
  pattern.split("*").length <= (text.length > 64 ? 3 : 6) &&
  text.length <= 4_096;

/** A pattern as a regular expression for a whole text. */
export function toRegExp(pattern: string): RegExp {
  let source = "";
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index]!;
    if (char === "*" || char === "?") {
      const [run] = /^[*?]+/.exec(pattern.slice(index))!;
      const count = run.replaceAll("*", "").length;
      source += run.includes("*") ? `.{${count},}` : `.{${count}}`;
      index += run.length - 1;
    } else if (char === "[") {
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

export const hasPattern = (text: string): boolean => /[*?[]|[@!+]\(/.test(text);
