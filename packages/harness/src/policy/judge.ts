/** The one place where a call is judged: what it wants, where that really is, decide, ask, audit. */
import type { BeforeToolCallContext, BeforeToolCallResult } from "@tau/agent";
import { type Ids, getErrorMessage } from "@tau/ai";
import { type JudgedCall, getCallRequests } from "./call-requests.ts";
import { oneLine, summariseCall } from "./call-summary.ts";
import type { Grants } from "./grants.ts";
import type { Answer, Ask, Audit, Decide, Decision, PolicyRequest, Question, Subject, Verdict } from "./policy.ts";

export interface JudgeParts {
  /** Called from here and from nowhere else. One that throws denies. */
  decide: Decide;
  /** Undefined when nobody is there to ask: what asks is then denied. */
  ask: Ask | undefined;
  /** Told of every decision before it takes effect. */
  audit: Audit;
  /** Gets what is allowed, for the guard. Who ends a call, also one that was never begun, calls its `endCall`. */
  grants: Grants;
  subject: Subject;
  /** Where relative paths begin. */
  cwd: string;
  /** The path that something has, or would have if it existed. One that cannot be told denies. */
  realPath: (path: string) => Promise<string>;
  /** Names questions. */
  ids: Ids;
}

/** Undefined lets the call go on. Never rejects. */
export type Judge = (call: BeforeToolCallContext, signal?: AbortSignal) => Promise<BeforeToolCallResult | undefined>;

/** All that a call wants must be allowed. Nobody is asked about a call of which something is denied anyway. */
export function createJudge(parts: JudgeParts): Judge {
  return async ({ toolCall: { id, name }, args }, signal = new AbortController().signal) => {
    const call: Call = { id, name, args };
    const judged = await verdictsOn(parts, call);
    const denied = judged.filter(({ verdict }) => verdict.kind === "deny");
    for (const one of denied.length > 0 ? denied : judged) {
      const reason = await settle(parts, call, one, signal);
      if (reason === undefined) continue;
      // What was granted on the way must not outlive a call that is never made.
      parts.grants.endCall(id);
      return { block: true, reason };
    }
    return undefined;
  };
}

interface Call extends JudgedCall {
  id: string;
}

interface Judged {
  request: PolicyRequest;
  verdict: Verdict;
}

/** One for each target, however often and in however many spellings the call names it. */
async function verdictsOn(parts: JudgeParts, call: Call): Promise<Judged[]> {
  const judged = new Map<string, Judged>();
  for (const wanted of getCallRequests(call, parts)) {
    const request: PolicyRequest = { subject: parts.subject, ...wanted };
    const one = await verdictOn(parts, request);
    judged.set(JSON.stringify([one.request.capability, one.request.target]), one);
  }
  return [...judged.values()];
}

async function verdictOn({ decide, realPath }: JudgeParts, typed: PolicyRequest): Promise<Judged> {
  let request = typed;
  try {
    const { target } = typed;
    if (target.kind === "path") request = { ...typed, target: { kind: "path", path: await realPath(target.path) } };
    return { request, verdict: decide(request) };
  } catch (error) {
    return { request, verdict: { kind: "deny", rule: "not-decided", reason: getErrorMessage(error) } };
  }
}

/** What became of one thing that a call wants. */
type Outcome = Pick<Decision, "rule" | "by"> &
  ({ outcome: "allowed"; grant?: "call" | "session" } | { outcome: "denied"; reason: string });

/** Why the call may not go on; undefined when it may. */
async function settle(parts: JudgeParts, call: Call, judged: Judged, signal: AbortSignal): Promise<string | undefined> {
  const { request } = judged;
  const result = await getOutcome(parts, call, judged, signal);
  const { rule, by, outcome } = result;
  const reason = result.outcome === "denied" ? result.reason : undefined;
  try {
    await parts.audit({
      toolCallId: call.id,
      toolName: call.name,
      request,
      rule,
      outcome,
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
    });
  } catch (error) {
    return reason ?? `The call was not made, since the decision could not be written down: ${getErrorMessage(error)}`;
  }
  // A call that was ended meanwhile must not leave a grant behind.
  if (reason === undefined && signal.aborted) return "Aborted before the call was made.";
  if (result.outcome === "allowed" && result.grant) {
    parts.grants.grant(
      request.capability,
      request.target,
      result.grant === "session" ? "session" : { toolCallId: call.id },
    );
  }
  return reason;
}

/** No path is longer, also with every character written out: its end is what a person has to see. */
const maxReasonLength = 50_000;

async function getOutcome(
  { ask, grants, ids }: JudgeParts,
  call: Call,
  { request, verdict }: Judged,
  signal: AbortSignal,
): Promise<Outcome> {
  const { rule } = verdict;
  // Also what nobody is asked for: the guard knows the default only, and this policy may allow more.
  if (verdict.kind === "allow")
    return { outcome: "allowed", rule, ...(request.target.kind === "path" && { grant: "call" }) };
  if (verdict.kind === "deny") return { outcome: "denied", rule, reason: verdict.reason };
  if (grants.isRemembered(request.capability, request.target)) return { outcome: "allowed", rule: "granted" };
  if (!ask) return { outcome: "denied", rule, reason: `${verdict.reason} ${unattended(request)}` };
  try {
    const summary = summariseCall(call);
    const reason = oneLine(verdict.reason, maxReasonLength);
    const question: Question = { id: ids(), toolCallId: call.id, toolName: call.name, summary, reason, request };
    const answer = await askUnlessAborted(ask, question, signal);
    if (answer === "aborted") return { outcome: "denied", rule, reason: "Aborted before anybody had answered." };
    const by = answer.by ?? "person";
    if (answer.decision !== "allow") return { outcome: "denied", rule, by, reason: refusal(by, answer.reason) };
    // What is to be kept for longer is kept by whoever answered; here it ends with the session.
    return { outcome: "allowed", rule, by, grant: answer.remember ? "session" : "call" };
  } catch (error) {
    return { outcome: "denied", rule, reason: `${verdict.reason} Nobody could be asked: ${getErrorMessage(error)}` };
  }
}

function unattended({ target }: PolicyRequest): string {
  const advice =
    target.kind === "path" ? "add its directory to the session, or run it interactively" : "run it interactively";
  return `Nobody is there to ask, so it was not done. To allow it, the user can ${advice}.`;
}

function refusal(by: string, reason: string | undefined): string {
  const who = by === "person" ? "The user" : by;
  return reason
    ? `${who} did not allow the call: ${reason}`
    : `${who} did not allow the call. Do not try it in another way: go on without it, or ask what to do instead.`;
}

/** Does not wait for an answer that nobody needs any more, and leaves nothing at the signal. */
function askUnlessAborted(ask: Ask, question: Question, signal: AbortSignal): Promise<Answer | "aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    const asked = (async () => await ask(question, signal))();
    void asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
