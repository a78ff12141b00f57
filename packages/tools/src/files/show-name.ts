/** Formats names for results: one line of plain text that stands for one name only. Pure. */

/**
 * Characters that cannot be seen, break a line or change the direction of reading; blanks at the ends; what would look
 * like a quoted name, or like a link and its target.
 */
const odd = /^["\s]|\s$| -> |[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The name itself or, if that is ambiguous, a JSON string of it in which everything can be seen. */
export const showName = (name: string): string =>
  odd.test(name) ? JSON.stringify(name).replaceAll(hidden, escaped) : name;

const escaped = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
