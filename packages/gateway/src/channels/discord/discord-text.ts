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
  for (const match of markdown.matchAll(units)) {
    const { label, href = "" } = match.groups ?? {};
    text += toHarmless(markdown.slice(end, match.index));
    text += label === undefined ? match[0] : href === "" ? toHarmless(match[0]) : formatLink(label, href);
    end = match.index + match[0].length;
  }
  return text + toHarmless(markdown.slice(end));
}

const formatLink = (label: string, href: string): string =>
  label.trim() === href || label.trim() === "" ? href : `${toHarmless(label)} (${href})`;

/**
 * Discord calls nobody whom a message does not name in its list; this is for those who read the text elsewhere, and for
 * links that are written in a way that was not recognised. The characters that replace others look alike.
 */
const toHarmless = (text: string): string =>
  text.replaceAll(/@(?=everyone|here)/g, "＠").replaceAll(/\]\((?=\s*<?[a-z][\w+.-]*:)/gi, "]（");
