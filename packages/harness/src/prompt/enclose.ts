/** Marks a text off from what is around it. Pure. */

/** `<tag name="value">…</tag>`, with a tag that the text itself cannot close. */
export function enclose(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  let tag = name;
  for (let count = 2; text.includes(`</${tag}`); count++) tag = `${name}-${count}`;
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `<${tag}${written.join("")}>\n${text}\n</${tag}>`;
}

const signs: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

export const escaped = (text: string): string => text.replaceAll(/[&<>"\n]/g, (sign) => signs[sign]!);
