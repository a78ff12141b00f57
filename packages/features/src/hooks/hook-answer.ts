/** Finds out what a hook wants, from how it ended. Pure. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { getHookEvent, type HookEventName } from "./events.ts";

/** How the command of a hook ended. */
export type HookEnd =
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  /** It gave no answer: it could not be started, took too long, was killed or wrote too much. */
  | { readonly kind: "failed"; readonly reason: string };

export interface HookAnswer {
  /** `deny` and `ask` are about what is about to happen; `stop` ends the run. The strictest comes last. */
  readonly verdict: "none" | "ask" | "deny" | "stop";
  readonly reason?: string;
  /** A text for the model. */
  readonly context?: string;
  /** A text for the person. */
  readonly message?: string;
  /** Says what went wrong with the hook itself, in a sentence without its subject. */
  readonly failure?: string;
}

const noReason = "The hook gave no reason.";

export function parseAnswer(event: HookEventName, end: HookEnd, onFailure: "block" | "continue"): HookAnswer {
  const fail = (failure: string): HookAnswer =>
    onFailure === "block" && getHookEvent(event).blocks
      ? { verdict: "deny", reason: `A hook that has to agree ${failure}`, failure }
      : { verdict: "none", failure };
  if (end.kind === "failed") return fail(end.reason);
  const { code, stdout, stderr } = end;
  if (code === 2) return refuse(event, stderr.trim());
  if (code !== 0) return fail(`ended with exit code ${code}${toDetail(stderr)}`);
  const text = stdout.trim();
  if (!text.startsWith("{")) return toContext(event, text);
  const answer = tryParseJson(text);
  if (!isRecord(answer)) return fail("answered with JSON that is not valid.");
  return parseJsonAnswer(event, answer);
}

const toDetail = (stderr: string): string => {
  const line = stderr.trim().split("\n").at(-1);
  return line ? `: ${line}` : ".";
};

/** Exit code 2. Where nothing can be stopped, the person sees the text. */
function refuse(event: HookEventName, text: string): HookAnswer {
  if (getHookEvent(event).blocks) return { verdict: "deny", reason: text || noReason };
  return event === "PostToolUseFailure"
    ? { verdict: "none", ...(text && { context: text }) }
    : { verdict: "none", ...(text && { message: text }) };
}

const toContext = (event: HookEventName, text: string): HookAnswer =>
  text !== "" && getHookEvent(event).outputIsContext ? { verdict: "none", context: text } : { verdict: "none" };

const asText = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

function parseJsonAnswer(event: HookEventName, answer: Readonly<Record<string, unknown>>): HookAnswer {
  const specific = isRecord(answer["hookSpecificOutput"]) ? answer["hookSpecificOutput"] : {};
  const { hookEventName } = specific;
  // An answer to another event is none to this one.
  const own = hookEventName === undefined || hookEventName === event ? specific : {};
  const context = asText(own["additionalContext"]);
  const message = asText(answer["systemMessage"]);
  const texts = { ...(context !== undefined && { context }), ...(message !== undefined && { message }) };
  if (answer["continue"] === false)
    return { ...texts, verdict: "stop", reason: asText(answer["stopReason"]) ?? noReason };
  const { verdict, reason } = parseVerdict(event, answer, own);
  return { ...texts, verdict, ...(verdict !== "none" && { reason: reason ?? noReason }) };
}

interface ParsedVerdict {
  readonly verdict: "none" | "ask" | "deny";
  readonly reason?: string | undefined;
}

function parseVerdict(
  event: HookEventName,
  { decision, reason }: Readonly<Record<string, unknown>>,
  { permissionDecision, permissionDecisionReason, updatedInput }: Readonly<Record<string, unknown>>,
): ParsedVerdict {
  const general = asText(reason);
  if (event !== "PreToolUse")
    return decision === "block" && getHookEvent(event).blocks
      ? { verdict: "deny", reason: general }
      : { verdict: "none" };
  const own = asText(permissionDecisionReason) ?? general;
  if (permissionDecision === "deny" || decision === "block" || decision === "deny")
    return { verdict: "deny", reason: own };
  // The call that would run is another one than the hook wants.
  if (updatedInput !== undefined)
    return { verdict: "deny", reason: "The hook wants other arguments, and tau does not let hooks change a call." };
  // `defer` hands the call to another program, which is not there: a person decides.
  if (permissionDecision === "ask" || permissionDecision === "defer") return { verdict: "ask", reason: own };
  // `allow` is no more than no objection: the policy decides.
  return { verdict: "none" };
}

const order = ["none", "ask", "deny", "stop"] as const;

/** The answers of all hooks of one event: the strictest verdict, and all that they say. */
export function combineAnswers(answers: readonly HookAnswer[]): Omit<HookAnswer, "failure"> {
  const verdict = order[Math.max(0, ...answers.map((answer) => order.indexOf(answer.verdict)))]!;
  const join = (texts: readonly (string | undefined)[]) => texts.filter((text) => text !== undefined).join("\n\n");
  const reason = join(answers.filter((answer) => answer.verdict === verdict).map((answer) => answer.reason));
  const context = join(answers.map((answer) => answer.context));
  const message = join(answers.map((answer) => answer.message));
  return {
    verdict,
    ...(reason && { reason }),
    ...(context && { context }),
    ...(message && { message }),
  };
}
