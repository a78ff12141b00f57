/** The code of the feature `memory`. */
import { type Clock, systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionContext, ExtensionFactory, FeaturePlace } from "@tau/extensions";
import { writeWhole } from "@tau/tools/durable";
import { type Lease, nodeFileSystem } from "@tau/tools/platform";
import { isChildSession } from "../kit/is-child-session.ts";
import { chooseFacts, formatChosen } from "./choose-facts.ts";
import { FactFile } from "./fact-file.ts";
import {
  findObstacle,
  forgetTool,
  getOfferPath,
  isOn,
  memoryCommand,
  reflectTool,
  type RetainArguments,
  retainTool,
  searchTool,
} from "./feature.ts";
import { isOfferedAfter } from "./is-correction.ts";
import { showMemory } from "./menu.ts";
import { PendingSessions } from "./pending-sessions.ts";
import { getFactsDirectory } from "./project-directory.ts";
import { readLog } from "./read-log.ts";
import { rememberSession } from "./remember-session.ts";
import { createSecretCheck } from "./secrets.ts";
import type { LogEntry } from "./spoken.ts";
import { forgetFact, reflectOn, retainFact, searchMemory, type ToolParts } from "./tools.ts";

interface MemoryPorts {
  readonly clock: Clock;
}

/** A session that nobody wrote to for so long is looked at. */
export const idleMs = 3 * 60_000;
/** Sessions of ended processes are looked at so long after the start. */
export const startMs = 5_000;
const maxFoundForPrompt = 60;
const maxNewest = 200;

export const createMemoryExtension =
  (place: FeaturePlace, { clock }: MemoryPorts = { clock: systemClock }): ExtensionFactory =>
  (tau) => {
    const directory = getFactsDirectory(place.agentDir, place.cwd);
    const facts = new FactFile(directory);
    const pending = new PendingSessions(directory);
    const ending = new AbortController();
    const getToday = () => new Date(clock.now()).toISOString().slice(0, 10);
    let cancelVisit = () => {};
    let cancelIdle = () => {};
    let lease: Lease | undefined;
    /** The entry up to which this session was looked at. */
    let after: string | null = null;
    let isOfferDue = false;

    const getParts = (context: ToolParts["context"], signal: AbortSignal | undefined): ToolParts => {
      if (!isOn(place)) {
        const advice = "Memory is off. The user can turn it on with /memory, or with the setting memory.backend.";
        throw new Error(findObstacle(place) ?? advice);
      }
      return { tau, facts, context, signal, today: getToday() };
    };
    /** Work that nobody waits for. */
    const inBackground = (work: () => Promise<void>): void => {
      work().catch((error: unknown) => {
        if (!ending.signal.aborted) tau.log("warn", `Memory: ${getErrorMessage(error)}`);
      });
    };
    const setTimer = (afterMs: number, work: () => Promise<void>): (() => void) =>
      clock.setTimer(afterMs, () => inBackground(work));
    const remember = async (log: Parameters<typeof rememberSession>[0], port: ExtensionContext) =>
      await rememberSession(log, {
        facts,
        port,
        hasSecret: await createSecretCheck(place),
        today: getToday(),
        signal: ending.signal,
      });

    tau.registerTool({
      ...searchTool,
      execute: async (_id, { query }: { query: string }, signal, _onUpdate, context) =>
        await searchMemory(query, getParts(context, signal)),
    });
    tau.registerTool({
      ...retainTool,
      execute: async (_id, args: RetainArguments, signal, _onUpdate, context) =>
        await retainFact(args, { ...getParts(context, signal), hasSecret: await createSecretCheck(place) }),
    });
    tau.registerTool({
      ...forgetTool,
      execute: async (_id, { id }: { id: string }, signal, _onUpdate, context) =>
        await forgetFact(id, getParts(context, signal)),
    });
    tau.registerTool({
      ...reflectTool,
      execute: async (_id, { question }: { question: string }, signal, _onUpdate, context) =>
        await reflectOn(question, getParts(context, signal)),
    });
    tau.registerCommand(memoryCommand.name, {
      description: memoryCommand.description,
      handler: async (args, context) => await showMemory(args, { facts, context, place, today: getToday() }),
    });

    tau.on("session_start", (_event, context) => {
      const obstacle = findObstacle(place);
      if (obstacle !== undefined && !isChildSession(context)) context.ui.notify(obstacle, "warning");
      after = context.sessionManager.getLeafId();
      // Print and JSON mode end with their answer.
      const stays = context.mode === "tui" || context.mode === "rpc";
      if (isOn(place) && stays && !isChildSession(context))
        cancelVisit = setTimer(startMs, () => visitPending(context));
    });
    tau.on("before_agent_start", async (event, context) => {
      if (event.messageType !== "user") return;
      cancelIdle();
      const branch = context.sessionManager.getBranch();
      const hasAnswer = branch.some((entry) => entry.type === "message" && entry.message.role === "assistant");
      if (!isOn(place)) {
        if (place.isTemporary) return;
        isOfferDue ||= isOfferedAfter({ prompt: event.prompt, mode: context.mode, hasAnswer });
        return;
      }
      if (hasAnswer || isChildSession(context)) return;
      const found = await facts.search(event.prompt, maxFoundForPrompt);
      const chosen = chooseFacts({ prompt: event.prompt, found, newest: await facts.listNewest(maxNewest) });
      if (chosen.length === 0) return;
      const used = chosen.map(({ id, fact, reason }) => ({ id, text: fact.text, reason }));
      return {
        message: {
          customType: "memory",
          content: formatChosen(chosen),
          display: false,
          details: { facts: used },
        },
      };
    });
    tau.on("agent_settled", (_event, context) => {
      if (isOfferDue) {
        isOfferDue = false;
        inBackground(() => offer(context));
      } else if (isOn(place) && !isChildSession(context)) inBackground(() => expectIdle(context));
    });
    tau.on("session_shutdown", async (_event, context) => {
      cancelVisit();
      cancelIdle();
      ending.abort();
      if (lease) await pending.release(context.sessionManager.getSessionId(), lease);
    });

    /** Once, whatever the user answers. */
    async function offer(context: ExtensionContext): Promise<void> {
      const path = getOfferPath(place.agentDir);
      const bytes = Buffer.from(`${getToday()}\n`);
      await writeWhole(nodeFileSystem, { path, bytes, ids: systemIds, replaces: false });
      const question =
        "You corrected the model. tau can remember corrections and decisions for later sessions of this project, in a file that you can read and change.";
      const turnsOn = "Turn memory on";
      if ((await context.ui.select(question, [turnsOn, "Leave it off"])) !== turnsOn)
        return context.ui.notify("Memory stays off. /memory turns it on.");
      await place.settings.update("global", { memory: { backend: "local" } } as object);
      context.ui.notify("Memory is on: /memory shows what is remembered. The model has its tools in the next session.");
      // The correction is in what was said before.
      after = null;
      await expectIdle(context);
    }

    async function expectIdle(context: ExtensionContext): Promise<void> {
      const { sessionManager } = context;
      const file = sessionManager.getSessionFile();
      if (file !== undefined) lease ??= await pending.add({ id: sessionManager.getSessionId(), file, after });
      cancelIdle();
      if (!ending.signal.aborted) cancelIdle = setTimer(idleMs, () => rememberThis(context));
    }

    async function rememberThis(context: ExtensionContext): Promise<void> {
      const { sessionManager } = context;
      const id = sessionManager.getSessionId();
      const last = sessionManager.getLeafId();
      const entries = sessionManager.getEntries() as unknown as LogEntry[];
      const outcome = await remember({ id, entries, after }, context);
      if (outcome.kind === "later") return;
      after = last;
      await pending.remove(id);
      if (lease) await pending.release(id, lease);
      lease = undefined;
      if (outcome.count > 0)
        context.ui.notify(
          `Remembered ${outcome.count === 1 ? "one fact" : `${outcome.count} facts`} of this session: /memory shows ${outcome.count === 1 ? "it" : "them"}.`,
        );
    }

    async function visitPending(context: ExtensionContext): Promise<void> {
      await pending.visit(async ({ id, file, after: seen }) => {
        if (ending.signal.aborted) return "later";
        return (await remember({ id, entries: await readLog(file), after: seen }, context)).kind;
      });
    }
  };
