/**
 * Writes Markdown in Slack's own markup. Nothing in a text can mention anybody: what Slack takes for a mention begins with
 * a bracket, and brackets are escaped. Pure.
 */
import { escapeMarkup, formatMarkdown, type Markup } from "../format-markdown.ts";

export const toMrkdwn = (markdown: string): string => formatMarkdown(markdown, mrkdwn);

const marks = { strong: "*", em: "_", del: "~" };

const mrkdwn: Markup = {
  // Slack does not format a text that begins or ends with a blank, or that is empty.
  mark: (mark, text) => (text.trim() === "" ? text : marks[mark] + text + marks[mark]),
  codespan: (code) => `\`${escapeMarkup(code.replaceAll("`", "'"))}\``,
  // Three backticks in a code block would end it, and Slack has no way to escape them.
  code: (code) => `\`\`\`\n${escapeMarkup(code).replaceAll("```", "``\u200B`")}\n\`\`\``,
  quote: (text) => text.replaceAll(/^/gm, "> "),
  link: formatLink,
};

/** The address itself is what can be clicked. A bar in it would begin another text for it. */
function formatLink(text: string, address: string): string {
  const isAddress = /^(https?|mailto):[^\s]+$/i.test(address);
  const shown = isAddress
    ? `<${escapeMarkup(address.replaceAll(/[<>|]/g, (character) => encodeURIComponent(character)))}>`
    : escapeMarkup(address);
  const isSame = text === escapeMarkup(address) || `mailto:${text}` === escapeMarkup(address);
  return isSame || text === "" ? shown : `${text} (${shown})`;
}
