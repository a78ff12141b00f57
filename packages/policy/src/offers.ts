/**
 * The answers, besides no, that a person can give to a question, in words for people. The only place where they are
 * made. Pure.
 */
import { dirname } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { type ApprovalChoice, approvalChoices, type OfferedChoice } from "@tau/protocol";
import { suggestPrefix } from "./command-prefix.ts";
import type { Grant } from "./grants.ts";
import { formatRule } from "./remembered-rules.ts";

/** An answer, with what it allows. */
export interface Offer {
  readonly choice: ApprovalChoice;
  /** The rule that would be remembered, as an answer names it; undefined where nothing is. */
  readonly rule?: string;
  readonly label: string;
  readonly given: Grant;
}

interface OfferOptions {
  /** The home directory: a rule for all of it would allow too much. */
  readonly home: string;
  /** Whether the directory of a path may be allowed with it. Default false. */
  readonly offersDirectory?: boolean;
}

/** For how long it can be allowed, and by which rule: for exactly this, for what begins alike, or for a directory. */
export function listOffers(exact: Grant, options: OfferOptions): Offer[] {
  const wider = widen(exact, options);
  return approvalChoices.flatMap((choice): Offer[] => {
    if (choice === "once") return [{ choice, label: formatChoice(choice), given: exact }];
    const grants = wider && choice !== "always" ? [exact, wider] : [exact];
    return grants.map((given) => ({ choice, rule: formatRule(given), label: formatChoice(choice, given), given }));
  });
}

export const toOfferedChoice = ({ choice, rule, label }: Omit<Offer, "given">): OfferedChoice => ({
  choice,
  ...(rule !== undefined && { rule }),
  label,
});

const terms: Readonly<Record<ApprovalChoice, string>> = {
  once: "Yes, this once",
  session: "Yes, for this session",
  project: "Always in this project",
  always: "Always, in every project",
};

/** Such as "Always in this project: run commands that begin with git push". `what` may be a text of the caller's. */
export function formatChoice(choice: ApprovalChoice, what?: Grant | string): string {
  if (what === undefined) return terms[choice];
  return `${terms[choice]}: ${typeof what === "string" ? what : describeGrant(what)}`;
}

/** Describes what a grant allows, such as "read everything in /etc". */
function describeGrant({ capability, target, isPrefix = false }: Grant): string {
  switch (target.kind) {
    case "command":
      return isPrefix ? `run commands that begin with ${target.command.replace(/ \*$/, "")}` : "run this command";
    case "path":
      if (capability === "read") return isPrefix ? `read everything in ${target.path}` : `read ${target.path}`;
      return isPrefix ? `change everything in ${target.path}` : `change ${target.path}`;
    case "host":
      return `reach ${target.host}`;
    case "name":
      if (capability === "env") return `give ${target.name} to commands`;
      return capability === "http" ? `open ${target.name} to this machine` : `use ${target.name}`;
  }
}

function widen(exact: Grant, { home, offersDirectory = false }: OfferOptions): Grant | undefined {
  const { capability, target } = exact;
  if (target.kind === "command") {
    const command = suggestPrefix(target.command);
    return command === undefined ? undefined : { capability, target: { kind: "command", command }, isPrefix: true };
  }
  if (target.kind !== "path" || !offersDirectory) return undefined;
  const path = dirname(target.path);
  // The whole home or more would be too much for one answer.
  return isWithin(path, home) ? undefined : { capability, target: { kind: "path", path }, isPrefix: true };
}
