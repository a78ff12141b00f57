/** Writes Markdown in the HTML that Telegram takes. Pure. */
import { escapeMarkup, formatMarkdown, type Markup } from "../format-markdown.ts";

export const toTelegramHtml = (markdown: string): string => formatMarkdown(markdown, html);

const tags = { strong: "b", em: "i", del: "s" };

const html: Markup = {
  mark: (mark, text) => `<${tags[mark]}>${text}</${tags[mark]}>`,
  codespan: (code) => `<code>${escapeMarkup(code)}</code>`,
  code(code, language) {
    const text = escapeMarkup(code);
    const isName = /^[\w+#-]{1,30}$/.test(language);
    return isName ? `<pre><code class="language-${language}">${text}</code></pre>` : `<pre>${text}</pre>`;
  },
  quote: (text) => `<blockquote>${text}</blockquote>`,
  link(text, address) {
    const shown = escapeMarkup(address);
    return text === shown ? text : `${text} (${shown})`;
  },
};
