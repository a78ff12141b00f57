/** A page of the documents as Markdown for a terminal. Pure. */
import { pages } from "./pages.ts";

/** Lines are as long as the terminal is wide, pictures become their descriptions, and links the commands that show the pages. */
export const toTerminalPage = (markdown: string): string => joinLines(toTopics(markdown));

function toTopics(markdown: string): string {
  const names = new Set(pages.map(({ name }) => name));
  return markdown
    .replaceAll(/<!--[\s\S]*?-->\n*/g, "")
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, (_picture, alt: string) => `_(picture: ${alt})_`)
    .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, "$1")
    .replaceAll(/\[([^\]]+)\]\(([\w-]+)\.md(?:#[^)]*)?\)/g, (link, text: string, name: string) =>
      !names.has(name) ? link : text === `${name}.md` ? `\`tau help ${name}\`` : `${text} (\`tau help ${name}\`)`,
    );
}

/** A line that begins something: a heading, a row, an item, a quote or a tag. */
const beginsBlock = /^\s*(#|\||[-*] |\d+\. |>|<)/;
/** A line that nothing can be added to: empty, a heading, a row, or one that ends with a break. */
const endsBlock = /^\s*($|#|\|)|\\$/;

/** Joins the lines of paragraphs and items, which the terminal would show as they are broken in the file. */
function joinLines(markdown: string): string {
  const lines: string[] = [];
  let isInFence = false;
  let canJoin = false;
  for (const line of markdown.split("\n")) {
    const isFence = line.trimStart().startsWith("```");
    if (canJoin && !isFence && line.trim() !== "" && !beginsBlock.test(line))
      lines.push(`${lines.pop()!} ${line.trim()}`);
    else lines.push(line);
    if (isFence) isInFence = !isInFence;
    canJoin = !isFence && !isInFence && !endsBlock.test(line);
  }
  return lines.join("\n");
}
