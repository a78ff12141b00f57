/** Whether a prompt corrects what the model did, or says how things are always done. Pure. */
import type { ExtensionMode } from "@tau/extensions";

/** Longer texts are tasks or pasted files, and the words of a correction are at the beginning. */
const maxLength = 600;

const corrections = [
  /^(?:no|nope|nein|non)\b\s*[,.!:;—–-]/i,
  /^(?:stop|wrong|incorrect|falsch)\b/i,
  /^that(?:'s|’s| is| was) (?:wrong|not (?:right|correct|true|what|how)|incorrect)/i,
  /\b(?:i|we) (?:(?:already )?(?:told|said|asked)|never (?:said|asked|wanted)|(?:did not|didn['’]t) (?:say|ask|want))\b/i,
  /\b(?:don['’]t|do not|never|stop) (?:use|do|run|add|write|touch|change|edit|create|call|put|commit|push|install|import|delete|remove|mock)/i,
  /\b(?:always|from now on|next time|in (?:the )?future|remember (?:that|to)|as i said)\b/i,
  /\b(?:use|run|call|put|take|prefer) [^.!?\n]{1,80} (?:instead|not|rather than|and not)\b/i,
  /\byou (?:should(?:n['’]t| not| have)|must(?:n['’]t| not)|forgot|broke|misunderstood|ignored|were wrong)\b/i,
  /\b(?:ich habe (?:doch |bereits )?gesagt|immer|niemals|nie wieder|ab jetzt|in zukunft|stattdessen)\b/i,
];

export const isCorrection = (prompt: string): boolean => {
  const text = prompt.trim().slice(0, maxLength);
  return corrections.some((pattern) => pattern.test(text));
};

interface PromptFacts {
  readonly prompt: string;
  readonly mode: ExtensionMode;
  /** Whether the model has said something that could be corrected. */
  readonly hasAnswer: boolean;
}

/** Whether memory is offered after a prompt: where a person sits at a terminal, after they corrected the model. */
export const isOfferedAfter = ({ prompt, mode, hasAnswer }: PromptFacts): boolean =>
  mode === "tui" && hasAnswer && isCorrection(prompt);
