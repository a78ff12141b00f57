/** Texts cut to a length. Pure. */

/** Roughly what a character costs: four of them are a token. */
export const textTokens = (text: string): number => Math.ceil(text.length / charactersPerToken);
export const charactersPerToken = 4;

/** Keeps the beginning and the end, and says how much is missing between them. Never longer than `most` characters. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = (missing: number) => `\n[${missing} characters left out]\n`;
  const room = most - note(text.length).length;
  if (room <= 0) return cutAt(text, most);
  const head = Math.ceil(room * 0.7);
  const tail = room - head;
  return `${cutAt(text, head)}${note(text.length - room)}${text.slice(text.length - tail).toWellFormed()}`;
}

/** Keeps the beginning, up to the end of a line where one is near. Never longer than `most` characters. */
export function cutEnd(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = "\n[The rest was left out.]";
  const room = most - note.length;
  if (room <= 0) return cutAt(text, most);
  const line = text.lastIndexOf("\n", room);
  return `${cutAt(text, line > room * 0.8 ? line : room)}${note}`;
}

/** Half a character would be refused on its way to a provider. */
const cutAt = (text: string, length: number) => text.slice(0, Math.max(0, length)).toWellFormed();

/** What a log gives for a text, which may be anything: even an object that cannot become one. */
export const toText = (value: unknown): string => (typeof value === "string" ? value : "");

/** Marks a text off by tags that it cannot close itself. */
export function tagged(name: string, text: string): string {
  const closed = new Set(Array.from(text.matchAll(closingTag), ([, closes]) => closes));
  let tag = name;
  for (let count = 2; closed.has(tag); count++) tag = `${name}-${count}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}

/** One walk over the text, however many numbers are taken in it. */
const closingTag = /<\/([\w-]+)>/g;
