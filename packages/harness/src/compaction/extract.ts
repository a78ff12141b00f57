/** Makes a summary without a model: the user's messages, their rules, and the last answer. Pure. */
import type { AgentMessage } from "@tau/agent";
import { plainText } from "./serialise.ts";
import { charactersPerToken, cutMiddle } from "./text.ts";

interface Extract {
  previousSummary: string | undefined;
  messages: readonly AgentMessage[];
  maxTokens: number;
}

/** Sentences with these words are kept word for word. */
const rulePattern =
  /\b(must|never|always|only|do not|don't|cannot|can't|should not|shouldn't|make sure|at most|at least|required?|forbidden|without)\b/i;

export function extractSummary({ previousSummary, messages, maxTokens }: Extract): string {
  const maxLength = maxTokens * charactersPerToken;
  const prompts = messages.flatMap((message) => (message.role === "user" ? plainText(message.content) : []));
  const [firstPrompt, ...laterPrompts] = prompts;
  const answer = messages
    .flatMap((message) => (message.role === "assistant" ? plainText(message.content) : []))
    .findLast((text) => text !== "");
  const rules = prompts
    .flatMap((text) => text.split(/\n|(?<=[.!?])\s+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length <= 400 && rulePattern.test(sentence));
  const laterTexts = laterPrompts.map((text) => cutMiddle(text, maxLength * 0.05));
  const sections = [
    formatSection("Earlier", previousSummary?.replace(extractHead, ""), maxLength * 0.35),
    formatSection(previousSummary === undefined ? "First request" : "Next request", firstPrompt, maxLength * 0.15),
    formatSection("Constraints", listLatest(rules, maxLength * 0.15), maxLength * 0.15),
    formatSection("Later messages", listLatest(laterTexts, maxLength * 0.2), maxLength * 0.2),
    formatSection("Last answer", answer, maxLength * 0.1),
  ];
  const note = "This summary was made without a model: it holds parts of the conversation as they were.";
  return cutMiddle([note, ...sections.filter((section) => section !== "")].join("\n\n"), maxLength);
}

/** The beginning of an extract, which would otherwise grow with every extract of an extract. */
const extractHead = /^This summary was made without a model[^\n]*\n+(## Earlier\n)?/;

function formatSection(name: string, text: string | undefined, maxLength: number): string {
  const title = `## ${name}\n`;
  return text?.trim() ? `${title}${cutMiddle(text.trim(), Math.floor(maxLength - title.length - 2))}` : "";
}

/** The latest texts that fit together, as a list in their order and without repeats. */
function listLatest(texts: readonly string[], maxLength: number): string {
  const items: string[] = [];
  let left = maxLength;
  for (const text of [...new Set(texts)].toReversed()) {
    left -= text.length + 3;
    if (left < 0) break;
    items.unshift(`- ${text}`);
  }
  return items.join("\n");
}
