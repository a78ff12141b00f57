/** Asks a person whether a command may be run again that the sandbox stopped: with more allowed, or outside of it. */
import { getErrorMessage, untilAborted } from "@tau/ai/internal";
import type { ApprovalChoice } from "@tau/protocol";
import type { SandboxRefusal } from "@tau/tools";
import { type CalledTool, summariseCall, toVisibleLine } from "./call-summary.ts";
import { formatRefusal } from "./format-refusal.ts";
import { changedMeanwhile, type JudgeParts, judgeTarget } from "./judge.ts";
import { formatChoice, toOfferedChoice } from "./offers.ts";
import { nothingIsAsked } from "./permission-mode.ts";
import { bindTarget, describeTarget, isSameTarget } from "./prepare-question.ts";
import type { Answer, Ask, PolicyRequest, Question } from "./policy.ts";

/** A call whose command has failed because of the sandbox. */
export interface StoppedCall extends CalledTool {
  readonly toolCallId: string;
  readonly refused: SandboxRefusal;
}

/** How the command may be run again. */
export type SandboxRetry =
  | {
      readonly kind: "inside";
      readonly hosts: readonly string[];
      readonly paths: readonly string[];
      readonly term: Term;
    }
  | { readonly kind: "outside" };
type Term = "command" | "session";

type RetryAnswer =
  | { readonly kind: "again"; readonly retry: SandboxRetry; readonly message?: string }
  /** `message`: whole sentences for the model; absent where it is clear from the command's own output. */
  | { readonly kind: "denied"; readonly message?: string };

type RetryParts = Pick<
  JudgeParts,
  "decide" | "ask" | "audit" | "subject" | "cwd" | "getMode" | "files" | "ids" | "remembered"
>;

interface Offer {
  readonly choice: ApprovalChoice;
  /** The rule that an answer names. */
  readonly rule: string;
  /** The text that the person sees. */
  readonly label: string;
  readonly retry: SandboxRetry;
  /** The requests that would be allowed, for the audit. */
  readonly requests: readonly PolicyRequest[];
}

const maxReasonLength = 5_000;

/** Never rejects. The command is not run outside unless a person says so each time. */
export async function askToRetry(parts: RetryParts, call: StoppedCall, signal: AbortSignal): Promise<RetryAnswer> {
  // Plan mode has nothing to offer: whatever is allowed more could write.
  if (parts.getMode() === "plan") return { kind: "denied" };
  const command = findCommand(parts, call);
  if (command === undefined) return { kind: "denied" };
  const { request, verdict } = await judgeTarget(parts, command);
  const offers = listOffers(call.refused, request, call.refused.mayLeave && verdict.kind !== "deny");
  const [first] = offers;
  if (!first) return { kind: "denied" };
  const { ask } = parts;
  if (parts.getMode() === "free")
    return await deny(parts, call, first, { by: "policy", reason: `${call.refused.reason} ${nothingIsAsked}` });
  if (!ask) return await deny(parts, call, first, { reason: `${call.refused.reason} ${unattended}` });
  try {
    const target = await bindTarget(parts, request.target, verdict);
    const question: Question = {
      id: parts.ids(),
      toolCallId: call.toolCallId,
      toolName: call.name,
      summary: summariseCall(call),
      reason: toVisibleLine(`The command failed. ${call.refused.reason} It can be run again.`, maxReasonLength),
      ...describeTarget(target, verdict),
      choices: offers.map(toOfferedChoice),
      request,
    };
    const answer = await askPerson(ask, question, signal);
    if (answer?.decision !== "allow") return await deny(parts, call, first, toRefusal(answer));
    const { choice = "once", by = "person" } = answer;
    const offer = offers.find((each) => each.choice === choice && (answer.rule ?? each.rule) === each.rule);
    if (!offer) return await deny(parts, call, first, { by, reason: "The answer names a rule that was not offered." });
    if (!isSameTarget(target, await bindTarget(parts, request.target, verdict)))
      return await deny(parts, call, offer, { by, reason: changedMeanwhile });
    if (offer.choice === "project") {
      for (const { capability, target: host } of offer.requests)
        await parts.remembered.add("project", { capability, target: host });
    }
    for (const allowed of offer.requests) await parts.audit({ ...getFact(call, allowed), outcome: "allowed", by });
    return { kind: "again", retry: offer.retry, ...(answer.message !== undefined && { message: answer.message }) };
  } catch (error) {
    return { kind: "denied", message: `It was not run again: ${getErrorMessage(error)}` };
  }
}

/** Undefined when the call was aborted meanwhile. */
async function askPerson(ask: Ask, question: Question, signal: AbortSignal): Promise<Answer | undefined> {
  if (signal.aborted) return undefined;
  const asked = await untilAborted((async () => await ask(question, signal))(), signal);
  return asked.kind === "aborted" ? undefined : asked.value;
}

/** Finds what the call runs, as the tool itself describes it. */
function findCommand({ subject, cwd }: RetryParts, { tool, args }: StoppedCall): PolicyRequest | undefined {
  const wanted = tool?.access?.(args as Record<string, unknown>, cwd) ?? [];
  const access = wanted.find(({ target }) => target.kind === "command");
  return access && { subject, capability: access.capability, target: access.target };
}

/** The narrowest comes first: an answer that names no rule means that one. Hosts can be remembered for the project. Pure. */
function listOffers({ hosts, paths }: SandboxRefusal, command: PolicyRequest, mayBeOutside: boolean): Offer[] {
  const { subject, target } = command;
  const terms = [
    ["once", "command"],
    ["session", "session"],
  ] as const;
  const reach = `reach ${hosts.join(", ")}`;
  const change = `change ${paths.join(", ")}`;
  const network = [...terms, ["project", "session"] as const].map(([choice, term]): Offer => ({
    choice,
    label: formatChoice(choice, reach),
    rule: `network ${hosts.join(", ")}`,
    retry: { kind: "inside", hosts, paths: [], term },
    requests: hosts.map((host) => ({ subject, capability: "http", target: { kind: "host", host } })),
  }));
  const opened = terms.map(([choice, term]): Offer => ({
    choice,
    label: formatChoice(choice, change),
    rule: `path ${paths.join(", ")}`,
    retry: { kind: "inside", hosts: [], paths, term },
    requests: paths.map((path) => ({ subject, capability: "write", target: { kind: "path", path } })),
  }));
  const text = target.kind === "command" ? target.command : "";
  const outside: Offer = {
    choice: "once",
    label: formatChoice("once", "run it without the sandbox"),
    rule: `outside ${text}`,
    retry: { kind: "outside" },
    requests: [command],
  };
  return [
    ...(hosts.length > 0 ? network : []),
    ...(paths.length > 0 ? opened : []),
    ...(mayBeOutside ? [outside] : []),
  ];
}

const getFact = ({ toolCallId, name }: StoppedCall, request: PolicyRequest) => ({
  toolCallId,
  toolName: name,
  request,
  rule: "sandbox",
});

interface Refused {
  readonly by?: string;
  readonly reason: string;
}

function toRefusal(answer: Answer | undefined): Refused {
  if (!answer) return { by: "abort", reason: "Aborted before a person answered." };
  return { by: answer.by ?? "person", reason: formatRefusal(answer, "the command to run again") };
}

async function deny(parts: RetryParts, call: StoppedCall, { requests }: Offer, refused: Refused): Promise<RetryAnswer> {
  for (const request of requests) await parts.audit({ ...getFact(call, request), outcome: "denied", ...refused });
  // Where nobody was asked, the output of the command says what to configure.
  return refused.by === undefined ? { kind: "denied" } : { kind: "denied", message: refused.reason };
}

const unattended =
  "No person is there to ask. To allow it, use the settings sandbox.network and sandbox.allowedPaths, or answer the question of tau -p in a terminal.";
