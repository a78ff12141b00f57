/** Encloses texts in tags. Pure. */

/** `<tag name="value">…</tag>`. The tag gets a number if the text could close it. */
export function enclose(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const closedTags = new Set(Array.from(text.matchAll(/<\/([\w-]+)/g), ([, tag]) => tag));
  let tag = name;
  for (let count = 2; closedTags.has(tag); count++) tag = `${name}-${count}`;
  const formatted = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`);
  return `<${tag}${formatted.join("")}>\n${text}\n</${tag}>`;
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

export const escapeText = (text: string): string => text.replaceAll(/[&<>"\n]/g, (character) => escapes[character]!);
