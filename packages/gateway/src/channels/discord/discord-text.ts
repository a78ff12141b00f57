/** Makes Markdown harmless for Discord, which shows most of it as it is. No text becomes longer by it. Pure. */

/**
 * Finds what is read as a whole: escaped characters, blocks of code, links with a text, and code in a line. A link may
 * have code in its text, and its address may have one pair of parentheses in it.
 */
const units =
  /\\[^0-9A-Za-z\s]|```[\s\S]*?```|!?\[(?<label>(?:[^[\]`\\]|`[^`]*`|\\.)*)\]\(\s*<?(?<href>[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)|(?<ticks>`+)[\s\S]*?[^`]\k<ticks>(?!`)/g;

/** Links show where they lead, and nobody is called. Code stays as it is. */
export function toDiscordText(markdown: string): string {
  let [text, end] = ["", 0];
  // What follows the last block of code: a link that is written out can become a part of another one.
  let plain = "";
  for (const match of markdown.matchAll(units)) {
    const { label, href = "", ticks } = match.groups ?? {};
    plain += markdown.slice(end, match.index);
    end = match.index + match[0].length;
    const isCode = ticks !== undefined || match[0].startsWith("```");
    if (isCode && !isCutByLine(match[0], markdown.slice(0, match.index))) {
      text += toHarmless(plain) + match[0];
      plain = "";
    } else plain += label === undefined || href === "" ? match[0] : formatLink(label, href);
  }
  return text + toHarmless(plain + markdown.slice(end));
}

/** Quotes, headings and lists of Discord end with their line, and code in them too. */
const isCutByLine = (code: string, before: string): boolean =>
  code.includes("\n") && /(?:^|\n)[ \t]*(?:[>#*+-]|\d+\.)[^\n]*$/.test(before);

const formatLink = (label: string, href: string): string =>
  label.trim() === href || label.trim() === "" ? href : `${label} (${href})`;

/**
 * Discord calls nobody whom a message does not name in its list; this is for those who read the text elsewhere, and for
 * links that are written in a way that was not recognised. The characters that replace others look alike.
 */
const toHarmless = (text: string): string =>
  text
    .replaceAll(/@(?=everyone|here)/g, "＠")
    .replaceAll(/(?<!(?<!\\)(?:\\\\)*\\)\]\((?=\s*<?[a-z][\w+.-]*:)/gi, "]（");
