/** Runs the task of one agent to its end. */
import { systemClock } from "@tau/ai";
import { assertNever, getErrorMessage, parseOutput, withoutUndefined } from "@tau/ai/internal";
import type { ChildOptions, ChildOutcome, ChildSession, ExtensionAPI } from "@tau/extensions";
import type { ChildPlace } from "../isolate-task.ts";
import { askUntilFits, maxCorrections } from "../../kit/ask-until-fits.ts";
import { checkAnswer } from "../check-answer.ts";
import { buildSystemPrompt } from "../task-prompt.ts";
import { followChild } from "./follow-child.ts";
import { describeChanges } from "./describe-changes.ts";
import { cutAnswer, type TaskReport } from "./reports.ts";
import type { Slot } from "./slots.ts";
import type { TaskRequest } from "./task-arguments.ts";
import type { Agent } from "./tree.ts";

/** Longer answers are cut also in the file. */
const maxKeptLength = 10_000_000;

interface RunAgentParts {
  tau: Pick<ExtensionAPI, "openChild" | "keepText" | "getSettings" | "requestAccess">;
  /** The directory of the session that gives the task. */
  cwd: string;
  /** Whether it works in a copy of the repository. */
  isIsolated: boolean;
  /** The session to continue. */
  sessionId: string | undefined;
  /** Whether it may have sub-agents of its own. */
  mayDelegate: boolean;
  /** Characters of the answer that are reported; the rest is in a file. */
  maxAnswerLength: number;
  /** Ends the task. */
  signal: AbortSignal;
  /** Called with the open child before it works. */
  onOpen: (child: ChildSession) => void;
}

/** Its conversation has calls that wrote files, which are not where it works now. */
const newCopyNotice =
  "You work in a new copy of the repository, which has what is committed there. Look before you rely on changes that you made before: those that were not brought back are in a branch (git branch --list 'pi-fanout-*').";

/** How the work on a task ended. */
type Ended = Pick<TaskReport, "status" | "answer" | "reason" | "changes"> & Partial<Pick<TaskReport, "filesChanged">>;

/** Resolves when the child is closed and its slot is free. Never rejects. */
export async function runAgent(agent: Agent, request: TaskRequest, parts: RunAgentParts): Promise<TaskReport> {
  const startMs = systemClock.monotonic();
  const before = { ...agent.used };
  const slot = await agent.tree.slots.take(parts.signal);
  let ended: Ended = { status: "stopped", answer: "", reason: "It was stopped before it began." };
  try {
    if (slot) ended = await work(agent, request, parts, slot);
  } catch (error) {
    ended = { status: "failed", answer: "", reason: getErrorMessage(error) };
  } finally {
    slot?.release();
  }
  const { answer, filesChanged = [], ...rest } = ended;
  return {
    id: agent.id,
    description: agent.description,
    ...rest,
    ...(await keepLongAnswer(parts, answer)),
    filesChanged,
    tokens: agent.used.tokens - before.tokens,
    cost: agent.used.cost - before.cost,
    durationMs: systemClock.monotonic() - startMs,
  };
}

async function work(agent: Agent, request: TaskRequest, parts: RunAgentParts, slot: Slot): Promise<Ended> {
  if (!parts.isIsolated) return await workIn({}, agent, request, parts, slot);
  const { tau, cwd, signal } = parts;
  const { id, description } = agent;
  // Late, because few agents are isolated.
  const { workIsolated } = await import("../worktrees/work-isolated.ts");
  const { ended, changes } = await workIsolated(
    { tau, cwd, id, description, signal },
    (place) => workIn(place, agent, request, parts, slot),
    // Changes of work that did not succeed are not applied.
    ({ status }) => (status === "done" ? {} : { result: "branch" }),
  );
  return { ...ended, ...describeChanges(changes) };
}

async function workIn(
  place: ChildPlace,
  agent: Agent,
  request: TaskRequest,
  parts: RunAgentParts,
  slot: Slot,
): Promise<Ended> {
  const isResumed = parts.sessionId !== undefined;
  const child = await parts.tau.openChild({ ...place, ...toChildOptions(agent, request, parts) });
  const stopFollowing = followChild(agent, child);
  try {
    agent.state = { kind: "working", child, slot, sinceMs: systemClock.monotonic() };
    parts.onOpen(child);
    const prompt = isResumed && parts.isIsolated ? `${newCopyNotice}\n\n${request.prompt}` : request.prompt;
    return await converse(agent, child, { ...request, prompt }, parts.signal);
  } finally {
    stopFollowing();
    await child.close();
  }
}

function toChildOptions(agent: Agent, request: TaskRequest, { sessionId, mayDelegate }: RunAgentParts): ChildOptions {
  const { model, schema } = request;
  const { description, agentName } = agent;
  const isAgent = `You are agent ${agent.id}.`;
  return {
    name: agent.title,
    appendSystemPrompt: [`${isAgent} ${buildSystemPrompt({ description, ...(schema && { schema }) })}`],
    ...(!mayDelegate && { excludedTools: ["task"] }),
    ...withoutUndefined({ model, agentName, sessionId }),
  };
}

/** Prompts until the answer fits its schema, or was corrected often enough. */
async function converse(
  agent: Agent,
  child: ChildSession,
  { prompt, schema }: TaskRequest,
  signal: AbortSignal,
): Promise<Ended> {
  const filesChanged = new Set<string>();
  const { answer: ended, check } = await askUntilFits(prompt, {
    async ask(text): Promise<Ended> {
      const outcome = await child.prompt(text, { signal });
      agent.addUsed(outcome.usage.totalTokens, outcome.usage.cost.total);
      for (const path of outcome.filesChanged) filesChanged.add(path);
      return toEnded(outcome);
    },
    check: ({ status, answer }) => checkAnswer(answer, status === "done" ? schema : undefined, { parse: parseOutput }),
    maxCorrections,
  });
  const changed = { filesChanged: [...filesChanged] };
  switch (check.kind) {
    case "unchecked":
      return { ...ended, ...changed };
    case "fits":
      return { ...ended, ...changed, answer: JSON.stringify(check.value) };
    case "unfit": {
      const reason = `Schema validation failed: ${getErrorMessage(check.error)}`;
      return { ...ended, ...changed, status: "failed", reason };
    }
    default:
      return assertNever(check);
  }
}

function toEnded({ kind, text, reason }: ChildOutcome): Ended {
  switch (kind) {
    case "done":
      return { status: "done", answer: text };
    case "aborted":
      return { status: "stopped", answer: text, reason: reason ?? "It was stopped." };
    case "failed":
      return { status: "failed", answer: text, reason: reason ?? "No reason was given." };
  }
}

async function keepLongAnswer(
  { tau, maxAnswerLength }: RunAgentParts,
  answer: string,
): Promise<Pick<TaskReport, "answer" | "file">> {
  if (answer.length <= maxAnswerLength) return { answer };
  const shown = cutAnswer(answer, maxAnswerLength);
  try {
    const file = await tau.keepText(answer.slice(0, maxKeptLength).toWellFormed());
    return { answer: shown, ...(file !== undefined && { file }) };
  } catch {
    // The extension has ended, or the disk is full: the beginning of the answer is reported all the same.
    return { answer: shown };
  }
}
