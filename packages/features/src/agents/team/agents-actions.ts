/** The actions of the tool `agents`. */
import { systemClock } from "@tau/ai";
import { asRecord, untilAborted, untilTimeout } from "@tau/ai/internal";
import { describeAgent, sortAgents } from "./lines.ts";
import { maxMessages } from "./mailbox.ts";
import { formatReport } from "./reports.ts";
import type { Delivered } from "./task-log.ts";
import type { Team } from "./team.ts";
import { formatPage, toTranscript } from "./transcript.ts";
import { type Agent, rootId } from "./tree.ts";

interface ActionResult {
  readonly text: string;
  readonly details?: Delivered;
}

const defaultWaitSeconds = 60;
const maxWaitSeconds = 600;
const maxMessageLength = 20_000;

/** Throws an error for the model if it cannot be done. */
export async function runAction(team: Team, args: unknown, signal: AbortSignal): Promise<ActionResult> {
  const { action, id, message, seconds, from } = asRecord(args) ?? {};
  const getAgent = (): Agent => mustFind(team, id);
  switch (action) {
    case "list":
      return { text: listAgents(team) };
    case "send":
      return { text: sendMessage(team.self, getAgent(), message) };
    case "wait":
      return await waitForReports(team, {
        ids: id === undefined || id === "" ? undefined : new Set([getAgent().id]),
        maxMs: 1_000 * Math.min(maxWaitSeconds, typeof seconds === "number" ? seconds : defaultWaitSeconds),
        signal,
      });
    case "read":
      return { text: formatPage(await readTranscript(getAgent()), typeof from === "number" ? from : undefined) };
    case "stop":
      return { text: stopAgent(team.self, getAgent()) };
    default:
      throw new Error("`action` is not one of list, send, wait, read and stop.");
  }
}

function mustFind({ self: { tree } }: Team, id: unknown): Agent {
  const agent = typeof id === "string" || typeof id === "number" ? tree.find(String(id)) : undefined;
  if (agent) return agent;
  const ids = [rootId, ...sortAgents(tree.agents).map((other) => other.id)];
  throw new Error(`There is no agent ${JSON.stringify(id ?? "")}. There are: ${ids.join(", ")}.`);
}

function listAgents({ self }: Team): string {
  const nowMs = systemClock.monotonic();
  const agents = sortAgents(self.tree.agents);
  if (agents.length === 0) return "There are no sub-agents.";
  return [`You are ${self.title}.`, ...agents.map((agent) => describeAgent(agent, nowMs))].join("\n");
}

/** Puts a message into the mailbox of an agent. Throws if it cannot take one. */
export function sendMessage(sender: Agent | "person", agent: Agent, message: unknown): string {
  if (typeof message !== "string" || message.trim() === "") throw new Error("`message` is missing.");
  if (message.length > maxMessageLength)
    throw new Error(
      `The message is longer than ${maxMessageLength} characters. Write it to a file, and send its path.`,
    );
  if (agent === sender) throw new Error("That is you.");
  if (agent.state.kind === "ended")
    throw new Error(`It has ended: ${agent.title}. To continue it, call task with its id as \`resume\`.`);
  const text = sender === "person" ? message : `[Message of ${sender.title}]\n${message}`;
  if (agent.mailbox.add(text)) return `Sent to ${agent.title}.`;
  throw new Error(
    `The mailbox of ${agent.title} is full: it has not read ${maxMessages} messages. Send it no more now.`,
  );
}

interface WaitOptions {
  ids: ReadonlySet<string> | undefined;
  maxMs: number;
  signal: AbortSignal;
}

async function waitForReports(team: Team, { ids, maxMs, signal }: WaitOptions): Promise<ActionResult> {
  const { outbox } = team;
  const reports = await outbox.hold(async () => {
    const all = Promise.all(team.listBackground(ids).map(({ done }) => done));
    const ended = untilTimeout(untilAborted(all, signal), Math.max(0, maxMs), systemClock);
    await team.whileWaiting(() => ended, signal);
    return outbox.take(ids);
  });
  const left = team.listBackground(ids).map(({ agent }) => agent);
  const texts = [
    ...reports.map(formatReport),
    ...(left.length > 0 ? [`Still running: ${left.map(({ title }) => title).join(", ")}.`] : []),
  ];
  if (texts.length === 0) return { text: "Nothing of yours is running in the background." };
  return { text: texts.join("\n\n"), details: { delivered: reports.map((report) => report.id) } };
}

export async function readTranscript(agent: Agent): Promise<string[]> {
  const { state } = agent;
  if (state.kind === "working") return toTranscript(state.child.getMessages());
  if (state.kind === "waiting") return [];
  if (!agent.reopen) throw new Error(`The transcript of ${agent.title} cannot be read here.`);
  const child = await agent.reopen();
  try {
    return toTranscript(child.getMessages());
  } finally {
    await child.close();
  }
}

function stopAgent(self: Agent, agent: Agent): string {
  if (!agent.isBelow(self))
    throw new Error(`You may stop your own sub-agents only, and ${agent.title} is none of them.`);
  if (agent.state.kind === "ended") return `It has ended already: ${agent.title}.`;
  agent.stop();
  return `Stopped ${agent.title}.`;
}
