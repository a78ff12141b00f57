/** A summary that needs no model: what the person said, what they forbade, and the last answer. Pure. */
import type { AgentMessage } from "@tau/agent";
import { plainText } from "./serialise.ts";
import { charactersPerToken, cutMiddle } from "./text.ts";

export interface Extract {
  previousSummary: string | undefined;
  messages: readonly AgentMessage[];
  maxTokens: number;
}

/** Sentences like these are kept word for word. */
const rule =
  /\b(must|never|always|only|do not|don't|cannot|can't|should not|shouldn't|make sure|at most|at least|required?|forbidden|without)\b/i;

export function extractSummary({ previousSummary, messages, maxTokens }: Extract): string {
  const most = maxTokens * charactersPerToken;
  const said = messages.flatMap((message) => (message.role === "user" ? plainText(message.content) : []));
  const [first, ...later] = said;
  const answer = messages
    .flatMap((message) => (message.role === "assistant" ? plainText(message.content) : []))
    .findLast((text) => text !== "");
  const rules = said
    .flatMap((text) => text.split(/\n|(?<=[.!?])\s+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length <= 400 && rule.test(sentence));
  const parts = [
    section("Earlier", previousSummary?.replace(earlier, ""), most * 0.35),
    section(previousSummary === undefined ? "First request" : "Then asked", first, most * 0.15),
    section("Constraints", latest(rules, most * 0.15).join("\n"), most * 0.15),
    section(
      "Said since",
      latest(
        later.map((text) => cutMiddle(text, most * 0.05)),
        most * 0.2,
      ).join("\n"),
      most * 0.2,
    ),
    section("Last answer", answer, most * 0.1),
  ];
  const note = "This summary was made without a model: it holds parts of the conversation as they were.";
  return cutMiddle([note, ...parts.filter((part) => part !== "")].join("\n\n"), most);
}

const title = (name: string) => `## ${name}\n`;
/** The head of an extract of an extract, which would grow with each. */
const earlier = /^This summary was made without a model[^\n]*\n+(## Earlier\n)?/;

function section(name: string, text: string | undefined, most: number): string {
  return text?.trim() ? `${title(name)}${cutMiddle(text.trim(), Math.floor(most - title(name).length - 2))}` : "";
}

/** The latest of some texts that fit together, in their order and without repeats. */
function latest(texts: readonly string[], most: number): string[] {
  const taken: string[] = [];
  let left = most;
  for (const text of [...new Set(texts)].toReversed()) {
    left -= text.length + 3;
    if (left < 0) break;
    taken.unshift(`- ${text}`);
  }
  return taken;
}
