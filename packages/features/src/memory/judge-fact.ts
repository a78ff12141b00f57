/** Decides what may be remembered, and what of it a later session is given without asking. Pure. */
import { toTerms } from "./fact-index.ts";
import { type FactKind, factKinds, maxFactLength, toFactText } from "./fact.ts";
import type { Spoken } from "./spoken.ts";

/** Sentences that tell somebody what to do, in the words in which that is usually said. */
const instructions = [
  /\b(?:always|never|must|should|shall|do not|don['’]t|ignore|disregard|obey|from now on|whenever|make sure|be sure|remember to|instructions?|system prompt|you are|you have to|before (?:each|every|any)|after (?:each|every|any)|immer|niemals)\b/i,
  /^(?:please |bitte )?(?:run|execute|use|call|send|post|upload|install|open|visit|fetch|download|write|delete|remove|add|append|include|reply|answer|respond|say|tell|forget|pretend|act|follow|trust|prefer|avoid|give|print|put|copy|curl|wget|read|load|export|disable|enable|skip|allow|approve|accept|push|commit|create|keep|treat|consider|replace|start|begin|stop)\b/i,
];

const isInstruction = (text: string): boolean => instructions.some((pattern) => pattern.test(text));

/** Kinds that say what the user wants. */
const isWish = (kind: FactKind): boolean => kind === "preference" || kind === "correction";

const fillers = new Set(
  toTerms(
    "a an the this that these those please we you i it is are was were be been of to in on at by for from with and or our your my as if not no do does don t s user wants prefers always never must should use uses used instead rather than when",
  ),
);

const minShare = 0.6;

/** Whether the words of a fact are those of the user. Fillers do not count. */
function isSaidByUser(text: string, spoken: readonly Spoken[]): boolean {
  const said = new Set(spoken.filter(({ by }) => by === "user").flatMap((each) => toTerms(each.text)));
  const words = [...new Set(toTerms(text))].filter((word) => !fillers.has(word));
  return words.length > 0 && words.filter((word) => said.has(word)).length / words.length >= minShare;
}

/** Whether a fact tells a later session what to do although the user did not say so. */
export const isForeignInstruction = (
  { text, kind }: { text: string; kind: FactKind },
  spoken: readonly Spoken[],
): boolean => (isWish(kind) || isInstruction(text)) && !isSaidByUser(text, spoken);

interface Proposal {
  readonly text: string;
  readonly kind: FactKind;
  /** The id of a fact that is no longer true. */
  readonly replaces?: string;
}

/** Words about secrets that no pattern of keys finds. */
const namesSecret =
  /\b(?:pass(?:word|wort|phrase|code)|token|secret|api[ _-]?key|credentials?|pin)\b\s*(?:is|are|was|=|:|ist|lautet)\s*\S/i;

interface FactRules {
  readonly spoken: readonly Spoken[];
  /** Whether a text has a secret of the user in it, or something that looks like a key. */
  readonly hasSecret: (text: string) => boolean;
}

export const hasSecretIn = (text: string, hasSecret: FactRules["hasSecret"]): boolean =>
  hasSecret(text) || namesSecret.test(text);

/**
 * Reads what a model proposes to remember of a session. A proposal needs a quotation of what was said; one that tells later sessions
 * what to do needs the words of the user. Undefined: not remembered.
 */
export function judgeProposal(value: unknown, { spoken, hasSecret }: FactRules): Proposal | undefined {
  const { fact, kind, quote, replaces } = (value ?? {}) as Record<string, unknown>;
  if (typeof fact !== "string" || typeof quote !== "string") return undefined;
  const text = toFactText(fact);
  if (text.length < 8 || fact.length > maxFactLength || hasSecretIn(fact, hasSecret)) return undefined;
  const known = (factKinds as readonly unknown[]).includes(kind) ? (kind as FactKind) : "fact";
  const quoted = spoken.filter((each) => toComparable(each.text).includes(toComparable(quote)));
  if (toComparable(quote).length < 8 || quoted.length === 0) return undefined;
  const proposal = { text, kind: known, ...(typeof replaces === "string" && { replaces }) };
  if (isForeignInstruction(proposal, spoken)) return undefined;
  // A wish that only the model put into words is none of the user.
  return isWish(known) && !quoted.some(({ by }) => by === "user") ? undefined : proposal;
}

const toComparable = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
