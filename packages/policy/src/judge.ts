/** Judges calls, and nothing else does: what a call wants, which real paths that means, decide, ask, audit. */
import { isAbsolute, resolve } from "node:path";
import type { BeforeToolCallContext, BeforeToolCallResult } from "@tau/agent";
import { type Ids } from "@tau/ai";
import { getErrorMessage, untilAborted, withoutUndefined } from "@tau/ai/internal";
import { type PermissionMode, HarnessError } from "@tau/protocol";
import type { AccessRequest, Files } from "@tau/tools";
import { bindQuestion } from "./bind-question.ts";
import type { CalledTool } from "./call-summary.ts";
import { formatRefusal } from "./format-refusal.ts";
import type { Grant, Grants } from "./grants.ts";
import { isAccess } from "./is-access.ts";
import { applyEachTime, applyRisk } from "./permission-mode.ts";
import { denyForRunning, mayWriteUnseen } from "./plan-mode.ts";
import { bindTarget, isSameTarget, prepareQuestion } from "./prepare-question.ts";
import type { RememberedRules } from "./remembered-rules.ts";
import type {
  Answer,
  Ask,
  Audit,
  Decide,
  Decision,
  PolicyCall,
  PolicyRequest,
  Question,
  Subject,
  Verdict,
} from "./policy.ts";

export interface JudgeParts {
  /** Must not be called anywhere else. A call is denied when it throws. */
  decide: Decide;
  /** Undefined when there is no person to ask: a verdict that asks then denies. */
  ask: Ask | undefined;
  /** Called with every decision before it takes effect. */
  audit: Audit;
  /** Gets what is allowed, for the guard. The caller must call its `endCall` for every call, also one that was not made. */
  grants: Grants;
  /** The rules that the user allowed for longer than a session. */
  remembered: RememberedRules;
  /** Gets what a person said when they allowed a call, for the model. */
  onMessage?: (toolCallId: string, message: string) => void;
  /** Whether whoever began the run has a scope. Default: scopes are not asked for. */
  hasScope?: (scope: string) => boolean;
  subject: Subject;
  /** Where relative paths begin. */
  cwd: string;
  /** The home directory of the user. */
  home: string;
  /** The permission mode, for what is asked without a verdict: what leaves the sandbox. */
  getMode: () => PermissionMode;
  /** Without a guard. A path whose real path cannot be found is denied. */
  files: Pick<Files, "realPath" | "stat" | "readWhole">;
  /** Names questions. */
  ids: Ids;
}

/** Undefined lets the call continue. Never rejects. */
type Judge = (call: BeforeToolCallContext, signal?: AbortSignal) => Promise<BeforeToolCallResult | undefined>;

/** A question about a call, and what an answer to it is bound to; see `bindQuestion`. */
export interface BoundQuestion {
  question: Question;
  binding: string;
}

/**
 * Keeps the questions about a call until all of them are answered, and then returns the answers once: nobody gets them again.
 * `open` while one is not answered: the call is then postponed. `ask` if somebody is there who can answer now.
 */
export type TakeAnswers = (questions: readonly BoundQuestion[]) => Promise<readonly Answer[] | "open" | "ask">;

interface JudgeOptions {
  /** Undefined for a call that cannot be postponed: it is asked about as always. */
  getTakeAnswers?: (call: BeforeToolCallContext) => TakeAnswers | undefined;
  /** Explains to the model why this call is denied if nobody can be asked about it. Undefined: because no person is there. */
  explainUnattended?: (call: BeforeToolCallContext) => string | undefined;
}

/** All that a call wants must be allowed. No question is asked about a call of which something is denied anyway. */
export function createJudge(parts: JudgeParts, { getTakeAnswers, explainUnattended }: JudgeOptions = {}): Judge {
  return async (judgedCall, signal = new AbortController().signal) => {
    const { toolCall, args, context } = judgedCall;
    const { id, name } = toolCall;
    const tool = context.tools?.find((each) => each.name === name);
    const call: Call = { id, name, args, tool, unattended: explainUnattended?.(judgedCall) ?? unattended };
    const judged = await judgeAll(parts, call, signal);
    const denied = judged.filter(({ verdict }) => verdict.kind === "deny");
    const takeAnswers = denied.length > 0 || signal.aborted ? undefined : getTakeAnswers?.(judgedCall);
    const answers = takeAnswers && (await findAnswers(parts, call, { judged, takeAnswers }));
    if (answers?.kind === "open") return { postpone: true };
    if (answers?.kind === "failed") return { block: true, reason: answers.reason };
    for (const access of denied.length > 0 ? denied : judged) {
      const answer = answers?.kind === "answered" ? answers.byJudgement.get(access) : undefined;
      const asked = answer ? { ...parts, ask: async () => answer } : parts;
      const reason = await settle(asked, call, access, signal);
      if (reason === undefined) continue;
      // Grants that were made so far must not outlive a call that is never made.
      parts.grants.endCall(id);
      return { block: true, reason };
    }
    return undefined;
  };
}

interface Call extends CalledTool {
  id: string;
  /** Explains that nobody can be asked about it. */
  unattended: string;
}

/** `open`: there are questions without an answer. `ask`: they are asked now. */
type FoundAnswers =
  | { kind: "answered"; byJudgement: ReadonlyMap<Judgement, Answer> }
  | { kind: "open" | "ask" }
  | { kind: "failed"; reason: string };

/** Finds the answers to all that has to be asked about a call. */
async function findAnswers(
  parts: JudgeParts,
  call: Call,
  { judged, takeAnswers }: { judged: readonly Judgement[]; takeAnswers: TakeAnswers },
): Promise<FoundAnswers> {
  try {
    const asking: Judgement[] = [];
    const questions: BoundQuestion[] = [];
    for (const judgement of judged) {
      const { request, verdict } = judgement;
      if (verdict.kind !== "ask") continue;
      const prepared = await prepareQuestion(parts, call, { request, verdict });
      if (prepared.kind === "known") continue;
      const bound = { ...request, target: prepared.target };
      const binding = await bindQuestion({ call, request: bound, verdict, cwd: parts.cwd }, parts.files);
      asking.push(judgement);
      questions.push({ question: prepared.createQuestion(), binding });
    }
    const answers = questions.length === 0 ? [] : await takeAnswers(questions);
    if (answers === "open" || answers === "ask") return { kind: answers };
    return { kind: "answered", byJudgement: new Map(asking.map((judgement, index) => [judgement, answers[index]!])) };
  } catch (error) {
    return { kind: "failed", reason: `The question about this call could not be kept: ${getErrorMessage(error)}` };
  }
}

const toPolicyCall = ({ name, args }: Call, needsApproval: boolean): PolicyCall => ({
  toolName: name,
  args,
  needsApproval,
});

interface Judgement {
  request: PolicyRequest;
  verdict: Verdict;
  /** See `AccessRequest`. */
  textFrom?: string | undefined;
}

/** Judges each target once, however often and in however many spellings the call names it. */
async function judgeAll(parts: JudgeParts, call: Call, signal: AbortSignal): Promise<Judgement[]> {
  const byName: AccessRequest = { capability: "tool", target: { kind: "name", name: call.name } };
  const { requiredScope } = (call.tool ?? {}) as { requiredScope?: string };
  if (requiredScope !== undefined && parts.hasScope?.(requiredScope) === false) {
    const { capability, target } = byName;
    const reason = `It needs the scope ${JSON.stringify(requiredScope)}, which whoever began this run does not have.`;
    return [
      { request: { subject: parts.subject, capability, target }, verdict: { kind: "deny", rule: "scope", reason } },
    ];
  }
  try {
    const wanted = await getWanted(call, parts.cwd);
    const approval = await getApproval(call, signal);
    const all = addUnseen(parts, call, wanted.length > 0 ? wanted : [byName], byName);
    const policyCall = toPolicyCall(call, approval !== undefined);
    const judged: Judgement[] = [];
    for (const access of approval === undefined ? all : addApproval(all, { ...byName, eachTime: approval }))
      judged.push(...(await judgeAccess(parts, access, policyCall)));
    return uniqueTargets(judged);
  } catch (error) {
    // A tool that cannot say what it wants gets nothing.
    const { capability, target } = byName;
    return [{ request: { subject: parts.subject, capability, target }, verdict: notDecided(error) }];
  }
}

/** In plan mode, a call of the model that may write unseen is asked about, whatever it says that it wants. */
function addUnseen(
  { subject, getMode }: JudgeParts,
  { tool }: Call,
  wanted: readonly AccessRequest[],
  byName: AccessRequest,
): readonly AccessRequest[] {
  const isCall = subject.kind === "model" || subject.kind === "child";
  const isKnown = !mayWriteUnseen(tool) || wanted.some(({ risk }) => risk !== undefined);
  return getMode() !== "plan" || !isCall || isKnown ? wanted : [...wanted, { ...byName, risk: "unknown" }];
}

/** Throws for an answer that cannot be judged: code without types may give anything, also a promise. */
async function getWanted({ tool, args, name }: Call, cwd: string): Promise<readonly AccessRequest[]> {
  if (!tool?.access) return [];
  const wanted: unknown = await tool.access(args as Record<string, unknown>, cwd);
  if (Array.isArray(wanted) && wanted.every(isAccess)) return wanted;
  const message = `The tool ${name} does not say what it wants: its access has to return a list of capabilities and targets.`;
  throw new HarnessError("invalid_input", message);
}

/** Why a person has to allow the call because its tool says so; undefined if it does not. A tool that cannot say is asked about. */
async function getApproval({ tool, name, args }: Call, signal: AbortSignal): Promise<string | undefined> {
  const { needsApproval = false } = tool ?? {};
  try {
    // Its code may wait for ever. A call that was aborted meanwhile is denied where a person would be asked.
    const asking = (async () => (typeof needsApproval === "function" ? await needsApproval(args) : needsApproval))();
    const answer = await untilAborted(asking, typeof needsApproval === "function" ? signal : undefined);
    return answer.kind === "done" && answer.value === false
      ? undefined
      : `The tool ${name} needs permission for this call.`;
  } catch (error) {
    return `The tool ${name} failed to say whether this call needs permission (${getErrorMessage(error)}).`;
  }
}

/** Asks about the call itself, unless something that it wants is asked about each time anyway. */
function addApproval(wanted: readonly AccessRequest[], approval: AccessRequest): readonly AccessRequest[] {
  if (wanted.some(({ eachTime }) => eachTime !== undefined)) return wanted;
  const isItself = ({ capability, target }: AccessRequest) =>
    capability === approval.capability && isSameTarget(target, approval.target);
  const itself = wanted.find(isItself);
  return [...wanted.filter((access) => access !== itself), { ...itself, ...approval }];
}

/** Keeps one verdict for each target: the strictest, and of equal ones the last. */
function uniqueTargets(judged: readonly Judgement[]): Judgement[] {
  const unique = new Map<string, Judgement>();
  for (const judgement of judged) {
    const { capability, target } = judgement.request;
    const key = JSON.stringify([capability, target]);
    const known = unique.get(key);
    if (!known || rank(judgement.verdict) >= rank(known.verdict)) unique.set(key, judgement);
  }
  return [...unique.values()];
}

const rank = (verdict: Verdict): number =>
  verdict.kind === "ask" ? (verdict.asksEachTime ? 2 : 1) : verdict.kind === "deny" ? 3 : 0;

/**
 * Every path that the call may open is decided on. A person is asked only for those that exist, or for the one that was
 * typed: the others are neither there nor granted.
 */
async function judgeAccess(parts: JudgeParts, access: AccessRequest, call: PolicyCall) {
  const {
    capability,
    target,
    risk,
    textFrom,
    alternatives = [],
    sends,
    chosen,
    eachTime,
    isForRunning = false,
  } = access;
  const { subject, ask, files, getMode } = parts;
  const paths = alternatives.map((path) => ({ kind: "path", path }) as const);
  const all: Judgement[] = [];
  for (const each of [target, ...paths]) {
    const typed = { subject, capability, target: each, ...withoutUndefined({ sends, chosen }) };
    const { request, verdict } = await judgeTarget(parts, typed, call);
    const mode = getMode();
    const stricter = applyEachTime(mode, eachTime, applyRisk(mode, risk, verdict));
    all.push({ request, verdict: mode === "plan" && isForRunning ? denyForRunning(stricter) : stricter, textFrom });
  }
  const judged = uniqueTargets(all);
  const asking = judged.filter(({ verdict }) => verdict.kind === "ask");
  // Without a person to ask, the answer must not reveal which of them exists.
  if (asking.length < 2 || !ask) return judged;
  const existing: Judgement[] = [];
  for (const judgement of asking) if (await exists(files, judgement.request.target)) existing.push(judgement);
  const kept = existing.length > 0 ? existing : asking.slice(0, 1);
  return judged.filter((judgement) => judgement.verdict.kind !== "ask" || kept.includes(judgement));
}

/** A path that cannot be looked at may exist. */
async function exists(files: JudgeParts["files"], target: PolicyRequest["target"]): Promise<boolean> {
  if (target.kind !== "path") return false;
  return await files.stat(target.path).then(
    (stats) => stats !== undefined,
    () => true,
  );
}

/** Decides on one thing. Never rejects. */
export async function judgeTarget(
  { decide, files, cwd }: Pick<JudgeParts, "decide" | "files" | "cwd">,
  typed: PolicyRequest,
  call?: PolicyCall,
): Promise<Judgement> {
  let request = typed;
  try {
    const { target } = typed;
    if (target.kind === "path") {
      const path = isAbsolute(target.path) ? target.path : resolve(cwd, target.path);
      request = { ...typed, target: { kind: "path", path: await files.realPath(path) } };
    }
    return { request, verdict: await decide(request, call) };
  } catch (error) {
    return { request, verdict: notDecided(error) };
  }
}

const notDecided = (error: unknown): Verdict => ({
  kind: "deny",
  rule: "not-decided",
  reason: getErrorMessage(error),
});

/** The result of judging one thing that a call wants. */
type Outcome = Pick<Decision, "rule" | "by"> &
  ({ outcome: "allowed"; grants?: readonly GivenGrant[] } | { outcome: "denied"; reason: string });

interface GivenGrant {
  given: Grant;
  term: "call" | "session";
}

/** Why the call may not continue; undefined when it may. */
async function settle(
  parts: JudgeParts,
  call: Call,
  judged: Judgement,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { request, verdict, textFrom } = judged;
  const result = await getOutcome(parts, call, judged, signal);
  const { rule, by, outcome } = result;
  const reason = result.outcome === "denied" ? result.reason : undefined;
  try {
    const { exec } = verdict;
    const isAudited = verdict.kind === "allow" ? verdict.isAudited : undefined;
    const details = withoutUndefined({ by, reason, exec, isAudited, textFrom });
    await parts.audit({ toolCallId: call.id, toolName: call.name, request, rule, outcome, ...details });
  } catch (error) {
    return reason ?? `The call was not made, since the decision could not be written down: ${getErrorMessage(error)}`;
  }
  // A call that was ended meanwhile must not leave a grant behind.
  if (reason === undefined && signal.aborted) return "Aborted before the call was made.";
  for (const { given, term } of result.outcome === "allowed" ? (result.grants ?? []) : []) {
    parts.grants.grant(given, term === "session" ? term : { toolCallId: call.id });
  }
  return reason;
}

async function getOutcome(
  parts: JudgeParts,
  call: Call,
  { request, verdict }: Judgement,
  signal: AbortSignal,
): Promise<Outcome> {
  const { ask, onMessage } = parts;
  const { rule } = verdict;
  const { capability } = request;
  // Also where no person is asked: the guard knows the default rules only, and this policy may allow more.
  if (verdict.kind === "allow") {
    const given = { capability, target: request.target };
    return { outcome: "allowed", rule, ...(request.target.kind === "path" && { grants: [{ given, term: "call" }] }) };
  }
  if (verdict.kind === "deny") return { outcome: "denied", rule, reason: verdict.reason };
  try {
    const prepared = await prepareQuestion(parts, call, { request, verdict });
    const { target } = prepared;
    if (prepared.kind === "known")
      return { outcome: "allowed", rule: prepared.rule, grants: [{ given: { capability, target }, term: "call" }] };
    if (!ask) return { outcome: "denied", rule, reason: `${verdict.reason} ${call.unattended}` };
    const { offers, anywhere } = prepared;
    const question = prepared.createQuestion();
    const aborted: Outcome = { outcome: "denied", rule, reason: "Aborted before a person answered." };
    if (signal.aborted) return aborted;
    // An answer that the abort itself makes comes later than the abort.
    const asking = (async () => await ask(question, signal))();
    const asked = await untilAborted(asking, signal);
    if (asked.kind === "aborted") return aborted;
    const answer = asked.value;
    const by = answer.by ?? "person";
    if (answer.decision !== "allow") return { outcome: "denied", rule, by, reason: formatRefusal(answer, "the call") };
    const { choice = "once" } = answer;
    const offer = offers.find((each) => each.choice === choice && (answer.rule ?? each.rule) === each.rule);
    if (!offer) return withoutEffect("The answer names a rule that was not offered.");
    if (!isSameTarget(target, await bindTarget(parts, request.target, verdict))) return withoutEffect(changedMeanwhile);
    const { given } = offer;
    const kept = choice === "always" ? { ...given, target: anywhere } : given;
    const problem = choice === "project" || choice === "always" ? await remember(parts, choice, kept) : undefined;
    if (problem !== undefined) return withoutEffect(problem);
    if (answer.message) onMessage?.(call.id, answer.message);
    // What is remembered is not also granted here: a rule that the user removes must not apply any longer.
    const forCall: GivenGrant = { given: { capability, target }, term: "call" };
    const forSession: readonly GivenGrant[] = choice === "session" ? [{ given, term: "session" }] : [];
    return { outcome: "allowed", rule, by, grants: [forCall, ...forSession] };
  } catch (error) {
    return { outcome: "denied", rule, reason: `${verdict.reason} No person could be asked: ${getErrorMessage(error)}` };
  }
}

/** The person did not say no, so nothing reports that they did. */
const withoutEffect = (reason: string): Outcome => ({ outcome: "denied", rule: "answer", reason });

/** Why it could not be remembered; undefined if it is. */
async function remember(
  { remembered }: JudgeParts,
  choice: "project" | "always",
  given: Grant,
): Promise<string | undefined> {
  try {
    await remembered.add(choice, given);
    return undefined;
  } catch (error) {
    return `The user allowed the call for longer, which could not be stored, so it was not made: ${getErrorMessage(error)}`;
  }
}

export const changedMeanwhile =
  "The working directory or a script that the command runs was changed while the question was open, so the answer does not count. Ask again.";

const unattended =
  "No person is there to ask, so it was not done. Only the user can allow it, before another run: continue without it, or say in your answer what you need it for.";
