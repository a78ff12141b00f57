/** The code of the feature `agents`. */
import { asRecord } from "@tau/ai/internal";
import { type ExtensionAPI, type ExtensionContext, getFeatureSettings } from "@tau/extensions";
import type { Directories } from "../definitions/definition-file.ts";
import { agentsSettings, agentsTool, taskTool } from "../feature.ts";
import { runAction } from "./agents-actions.ts";
import { createAgentsCommand } from "./panel.ts";
import { formatFacts, formatReport, type TaskReport } from "./reports.ts";
import { RunCount } from "./run-count.ts";
import { customType, type Delivered, describeInterrupted, readTasks } from "./task-log.ts";
import { parseTasks } from "./task-arguments.ts";
import { Team } from "./team.ts";
import { AgentTrees, rootId } from "./tree.ts";
import { AgentLines } from "./agent-lines.ts";

export function registerAgents(tau: ExtensionAPI, directories: Directories): void {
  let settings: { maxDepth: number; maxConcurrent: number } | undefined;
  /** The last ones when the session is over: its tasks end a moment later. */
  const getSettings = () => {
    if (current || !settings) settings = getFeatureSettings(tau, agentsSettings).agents;
    return settings;
  };
  const runs = new RunCount();
  let current: { team: Team; context: ExtensionContext; lines: AgentLines } | undefined;
  const getTeam = (): Team => {
    if (!current) throw new Error("The session has not started.");
    return current.team;
  };

  /** Reports arrive as one message, which begins a run unless too many did so already. */
  const deliver = (reports: readonly TaskReport[]): void => {
    if (!current) return;
    tau.sendMessage(toMessage(reports), { triggerTurn: runs.mayBegin, deliverAs: "steer" });
    const { isIdle, ui } = current.context;
    const { limitNotice } = runs;
    if (limitNotice !== undefined && isIdle()) ui.notify(limitNotice, "info");
  };

  tau.on("session_start", async (_event, context) => {
    const trees = await tau.shared("trees", () => new AgentTrees());
    const { sessionManager } = context;
    const self = trees.enter(sessionManager.getSessionId(), () => getSettings().maxConcurrent);
    const team = new Team({
      tau,
      cwd: context.cwd,
      trees,
      self,
      deliver,
      onAbort: () => runs.hold(),
      getMaxDepth: () => getSettings().maxDepth,
    });
    current = { team, context, lines: new AgentLines(self, context) };
    if (self.id === rootId) receiveMessages();
    const tasks = readTasks(sessionManager.getEntries());
    team.restore(tasks.values());
    const interrupted = describeInterrupted(tasks.values());
    if (interrupted) tau.sendMessage({ customType, display: true, ...interrupted });
  });

  /** Messages of agents to the session that the tree begins with; others are children, and are steered. */
  const receiveMessages = (): void => {
    const { mailbox } = getTeam().self;
    let unread = 0;
    mailbox.setDelivery(async (content) => {
      const isRead = current?.context.isIdle() === true;
      tau.sendMessage(
        { customType, content, display: true, details: { isMail: true } },
        { triggerTurn: runs.mayBegin, deliverAs: "steer" },
      );
      if (!isRead) mailbox.setUnread(++unread);
    });
    tau.on("message_start", ({ message }) => {
      if (!isMail(message)) return;
      unread = Math.max(0, unread - 1);
      mailbox.setUnread(unread);
    });
  };

  tau.registerTool({
    ...taskTool,
    async execute(_id, args: unknown, signal) {
      const team = getTeam();
      const parsed = parseTasks(args);
      if (parsed.problem !== undefined) throw new Error(parsed.problem);
      const problem = team.findProblem(parsed.tasks);
      if (problem !== undefined) throw new Error(problem);
      if (parsed.isBackground) {
        const titles = team.start(parsed.tasks).map(({ title }) => title);
        const advice = `Their answers arrive as messages. The tool ${agentsTool.name} (found with tool_search) can list, send, wait, read and stop.`;
        return { content: [{ type: "text", text: `Started in the background: ${titles.join(", ")}. ${advice}` }] };
      }
      const reports = await team.run(parsed.tasks, signal ?? new AbortController().signal);
      const { content, details } = toMessage(reports);
      return { content: [{ type: "text", text: content }], details };
    },
  });

  tau.registerTool({
    ...agentsTool,
    async execute(_id, args: unknown, signal) {
      const { text, details } = await runAction(getTeam(), args, signal ?? new AbortController().signal);
      return { content: [{ type: "text", text }], ...(details && { details }) };
    },
  });

  tau.registerCommand("agents", createAgentsCommand({ getTeam, directories, tau }));

  tau.on("input", ({ source }, { isIdle }) => {
    if (source !== "extension") runs.addWord(isIdle());
  });
  tau.on("agent_start", () => runs.addRun());

  // Where nobody is there to wait for a later run, this one waits.
  tau.on("agent_before_settle", async ({ outcome, entries }, { mode, signal }) => {
    if (!current || outcome !== "completed" || (mode !== "print" && mode !== "json")) return undefined;
    const reports = await waitForNext(current.team, signal ?? new AbortController().signal);
    if (reports.length === 0) return undefined;
    return { entries: [...entries, { type: "custom_message", ...toMessage(reports) }], continue: true };
  });
  tau.on("agent_settled", ({ aborted }) => {
    if (!aborted) return;
    runs.hold();
    current?.team.stopAll();
  });
  tau.on("session_shutdown", async () => {
    const ended = current;
    current = undefined;
    ended?.lines.close();
    await ended?.team.close();
  });
}

/** Sessions add this role to those of the engine. */
const isMail = (message: { role: string; details?: unknown }): boolean =>
  message.role === "custom" && asRecord(message.details)?.["isMail"] === true;

/** Resolves with the reports of the tasks that end next; empty if none is running. */
async function waitForNext(team: Team, signal: AbortSignal): Promise<TaskReport[]> {
  const { outbox } = team;
  return await outbox.hold(async () => {
    const running = team.listBackground().map(({ done }) => done);
    if (outbox.isEmpty && running.length > 0) {
      await team.whileWaiting(() => Promise.race(running), signal);
      // Tasks that end together are reported together.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return outbox.take();
  });
}

/** The reports as a message, or as the result of a call. */
function toMessage(reports: readonly TaskReport[]) {
  const details: Delivered & { foldedTo: readonly string[] } = {
    delivered: reports.map(({ id }) => id),
    foldedTo: reports.map(formatFacts),
  };
  return { customType, content: reports.map(formatReport).join("\n\n"), display: true, details };
}
