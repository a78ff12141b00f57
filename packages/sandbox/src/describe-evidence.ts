/** Describes for the model what the sandbox refused a command, and what a person can do about it. Pure. */
import type { Evidence } from "./evidence.ts";
import { toLocalEntry } from "./network/local-ports.ts";
import type { Refusal } from "./proxy/admit.ts";

/** The entry of `sandbox.network` that allows a host: without the port if that is one of the web. */
const toAllowEntry = (target: string): string => target.replace(/:(?:80|443)$/, "");

/** Hosts and ports of this machine that a person could allow. */
export const listHosts = ({ refusals, ports }: Pick<Evidence, "refusals" | "ports">): string[] => [
  ...new Set(refusals.filter(({ kind }) => kind === "not_allowed").map(({ target }) => toAllowEntry(target))),
  ...ports.map(toLocalEntry),
];

/** Describes each kind of refusal in a sentence, without what to do about it. */
export function describeEvidence(evidence: Evidence): string[] {
  const { outside, protected: names, hidden } = evidence;
  const targets = (kind: Refusal["kind"]) =>
    evidence.refusals.filter((refusal) => refusal.kind === kind).map(({ target }) => target);
  const sentences: [readonly string[], (list: string) => string][] = [
    [targets("not_allowed"), (list) => `The sandbox refused network access to ${list}.`],
    [
      evidence.ports.map(toLocalEntry),
      (list) => `In the sandbox, ${list} does not lead to the server of this machine that listens there.`,
    ],
    [
      targets("private_address"),
      (list) => `The sandbox refused network access to ${list}, because the name leads to a private address.`,
    ],
    [targets("unknown_host"), (list) => `The proxy of the sandbox found no address for ${list}.`],
    [targets("not_a_host"), (list) => `The proxy of the sandbox does not understand the host ${list}.`],
    [outside, (list) => `The sandbox keeps ${list} read-only.`],
    [names, (list) => `The sandbox keeps ${list} read-only, because programs outside run or obey it.`],
    [
      hidden,
      (list) => `The sandbox hides ${list}, because credentials are kept there or a program outside listens there.`,
    ],
  ];
  return sentences.flatMap(([list, describe]) => (list.length === 0 ? [] : [describe(list.join(", "))]));
}

/** Describes what to configure. `paths`: existing paths that could be opened. */
export function describeRemedy(hosts: readonly string[], paths: readonly string[]): string {
  const settings = [
    ...(hosts.length > 0 ? [`sandbox.network: ${JSON.stringify({ allow: hosts })}`] : []),
    ...(paths.length > 0 ? [`sandbox.allowedPaths: ${JSON.stringify(paths)}`] : []),
  ];
  if (settings.length === 0) return "Only the user can do this, outside of the sandbox.";
  return `Only the user can allow it, with the setting ${settings.join(" and ")}.`;
}
