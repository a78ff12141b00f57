/** Prepares the question about one thing that a call wants: what it is bound to, and the answers that are offered. */
import type { Ids } from "@tau/ai";
import type { Files } from "@tau/tools";
import { bindCommand } from "./bind-command.ts";
import { type CalledTool, summariseCall, toVisibleLine } from "./call-summary.ts";
import type { CoverOptions, Grant, Grants } from "./grants.ts";
import { hostRule } from "./judge-host.ts";
import { listOffers, type Offer, toOfferedChoice } from "./offers.ts";
import { askRule } from "./permission-mode.ts";
import type { PolicyRequest, Question, Verdict } from "./policy.ts";
import type { RememberedRules } from "./remembered-rules.ts";

interface QuestionParts {
  grants: Grants;
  remembered: RememberedRules;
  cwd: string;
  home: string;
  files: Pick<Files, "realPath" | "readWhole">;
  ids: Ids;
}

/** No path is longer, even with every character escaped: a person has to see its end. */
const maxReasonLength = 50_000;

/** `anywhere`: the target as an answer for every directory is bound to it. */
type PreparedQuestion = { target: PolicyRequest["target"] } & (
  | { kind: "known"; rule: string }
  | { kind: "open"; createQuestion: () => Question; offers: readonly Offer[]; anywhere: PolicyRequest["target"] }
);

/** The question about a thing that needs permission; `known` if a rule that a person allowed before covers it. */
export async function prepareQuestion(
  parts: QuestionParts,
  call: CalledTool & { id: string },
  { request, verdict }: { request: PolicyRequest; verdict: Verdict & { kind: "ask" } },
): Promise<PreparedQuestion> {
  const { capability } = request;
  const { rule, asksEachTime = false } = verdict;
  const target = await bindTarget(parts, request.target, verdict);
  const anywhere = await bindTarget(parts, request.target, verdict, { isAnywhere: true });
  const offersDirectory = rule === "outside" || rule === askRule;
  const cover = { coversDirectories: offersDirectory };
  const known = asksEachTime
    ? undefined
    : ((await findGrant(parts, { capability, target }, cover)) ??
      (await findGrant(parts, { capability, target: anywhere })));
  if (known !== undefined) return { kind: "known", rule: known, target };
  const offers = listOffers({ capability, target }, { home: parts.home, offersDirectory }).filter(
    ({ choice }) => choice === "once" || (!asksEachTime && (choice !== "always" || rule !== hostRule)),
  );
  const createQuestion = (): Question => ({
    id: parts.ids(),
    toolCallId: call.id,
    toolName: call.name,
    summary: summariseCall(call),
    reason: toVisibleLine(verdict.reason, maxReasonLength),
    ...describeTarget(target, verdict),
    choices: offers.map(toOfferedChoice),
    request,
  });
  return { kind: "open", target, createQuestion, offers, anywhere };
}

/** Which rule a person allowed it by before; undefined if they did not. */
export async function findGrant(
  { grants, remembered }: Pick<QuestionParts, "grants" | "remembered">,
  { capability, target }: Grant,
  options?: CoverOptions,
) {
  if (grants.isRemembered(capability, target, options)) return "granted";
  return (await remembered.covers(capability, target, options)) ? "remembered" : undefined;
}

/**
 * Binds an answer to a command: another command, script or directory needs another answer; what is allowed `isAnywhere`
 * applies in every directory.
 */
export async function bindTarget(
  { cwd, files }: Pick<QuestionParts, "cwd" | "files">,
  target: PolicyRequest["target"],
  { exec }: Verdict,
  { isAnywhere = false } = {},
): Promise<PolicyRequest["target"]> {
  if (target.kind !== "command") return target;
  const { command } = target;
  return { ...target, binding: await bindCommand({ command, commands: exec?.commands ?? [], cwd, isAnywhere }, files) };
}

export const isSameTarget = (a: PolicyRequest["target"], b: PolicyRequest["target"]) =>
  JSON.stringify(a) === JSON.stringify(b);

/** Describes what would be touched, as surfaces show it. */
export function describeTarget(
  target: PolicyRequest["target"],
  { exec }: Verdict,
): Pick<Question, "commands" | "path" | "host"> {
  switch (target.kind) {
    case "path":
      return { path: target.path };
    case "host":
      return { host: target.host };
    case "command":
      // The text as it is, and what would run in it.
      return { commands: [["bash", "-c", target.command], ...(exec?.commands ?? [])] };
    case "name":
      return {};
  }
}
