/** Describes what is wrong with a log in one text. Pure. */
import type { SessionProblem } from "./scan.ts";

const maxListed = 3;

/** Sentences: what was lost, and what to do about it. */
export function describeProblems(problems: readonly SessionProblem[], path: string): string {
  const lost = problems.filter(({ kind }) => kind === "damaged").length;
  const counted = lost === 0 ? "" : ` ${lost} ${lost === 1 ? "entry is" : "entries are"} lost.`;
  const listed = problems.slice(0, maxListed).map(({ message }) => ` ${message}`);
  const rest = problems.length - listed.length;
  const more = rest === 0 ? "" : ` And ${rest} more ${rest === 1 ? "problem" : "problems"}.`;
  return `The session file ${path} is damaged.${counted}${listed.join("")}${more} See all: tau sessions repair`;
}
