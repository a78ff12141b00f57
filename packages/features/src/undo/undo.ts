/** The code of the feature `undo`. */
import { existsSync } from "node:fs";
import { type Clock, systemClock } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import {
  type ExtensionAPI,
  type ExtensionContext,
  type ExtensionFactory,
  type FeaturePlace,
  getFeatureSettings,
} from "@tau/extensions";
import { UndoError } from "./failure.ts";
import { diffCommand, redoCommand, undoCommand } from "./feature.ts";
import { formatWritten } from "./format-undo.ts";
import { openProject, type Project } from "./project.ts";
import { getJournalPath } from "./project-directory.ts";
import { Recorder } from "./recorder.ts";
import { findPrompt, requestUndo, type UndoRequest } from "./request-undo.ts";
import { runUndoCommand } from "./run-command.ts";
import { runDiff } from "./run-diff.ts";
import { undoSettings } from "./settings.ts";

const maxPromptLength = 80;

export const createUndoExtension =
  ({ agentDir, cwd }: FeaturePlace, clock: Clock = systemClock): ExtensionFactory =>
  (tau) => {
    const open = createOpener(tau, { agentDir, cwd, clock });
    let recorder: Recorder | undefined;
    let lastWarning = "";
    let isRunning = false;

    tau.on("agent_start", () => void (isRunning = true));
    tau.on("before_files_change", async (_event, { sessionManager, ui }) => {
      isRunning = true;
      const warn = (reason: string) => {
        const text = `What this prompt does cannot be taken back with /undo: ${reason}.`;
        if (text !== lastWarning) ui.notify(text, "warning");
        lastWarning = text;
      };
      const log = (message: string) => tau.log("warn", `undo: ${message}`);
      recorder ??= new Recorder({ sessionId: sessionManager.getSessionId(), open, clock, warn, log });
      if (recorder.isOpen) return;
      await recorder.begin({ entryId: sessionManager.getLeafId(), prompt: describePrompt(sessionManager) });
    });
    tau.on("agent_settled", async () => {
      isRunning = false;
      await recorder?.end();
    });
    tau.on("session_shutdown", async () => await recorder?.end());
    // Whatever works alone first brings back what was cut off.
    tau.on("session_start", async () => {
      if (existsSync(getJournalPath(agentDir, cwd))) await open().then((project) => project.alone(async () => {}));
    });

    const request = async (wanted: UndoRequest, context: ExtensionContext) => {
      // A run that only has to be noted is over.
      if (!context.isIdle() && isRunning) throw new UndoError("A run is in progress. Wait for it, or abort it");
      await recorder?.end();
      const data = await requestUndo(await open(), wanted, context.sessionManager);
      if (data.done && !wanted.conversation) tellModel(tau, formatWritten(wanted.direction, data));
      return data;
    };
    tau.on("undo_request", async ({ type: _type, ...wanted }, context) => {
      try {
        return { data: await request(wanted, context) };
      } catch (error) {
        if (error instanceof UndoError) return { problem: toSentence(error.message) };
        throw error;
      }
    });
    for (const [{ name, description }, direction] of [
      [undoCommand, "undo"],
      [redoCommand, "redo"],
    ] as const)
      tau.registerCommand(name, {
        description,
        async handler(args, context) {
          await orNotify(context, async () => {
            await runUndoCommand({ direction, args, context }, (wanted) => request(wanted, context));
          });
        },
      });
    tau.registerCommand(diffCommand.name, {
      description: diffCommand.description,
      handler: async (_args, context) => await orNotify(context, async () => await runDiff(await open(), context)),
    });
  };

/** Reports refusals of undo, which are not failures of it. */
async function orNotify({ ui }: Pick<ExtensionContext, "ui">, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UndoError)) throw error;
    ui.notify(toSentence(error.message), "error");
  }
}

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/[^.]$/, "$&.");

/** It would go on as if the files were as it left them. */
function tellModel(tau: ExtensionAPI, text: string): void {
  tau.sendMessage({ customType: "undo", content: text, display: false }, { deliverAs: "nextTurn" });
}

/** Describes the prompt that a run began with, for people. */
function describePrompt(reader: Pick<ExtensionContext["sessionManager"], "getBranch">): string {
  const entry = findPrompt(reader.getBranch());
  const text = entry ? joinTextBlocks(entry.message.content).trim().split("\n")[0]! : "";
  return text.length > maxPromptLength ? `${text.slice(0, maxPromptLength - 1)}…` : text || "a prompt";
}

function createOpener(tau: ExtensionAPI, place: { agentDir: string; cwd: string; clock: Clock }) {
  let opened: Promise<Project> | undefined;
  return (): Promise<Project> => {
    const maxFileBytes = getFeatureSettings(tau, undoSettings).undo.maxFileMb * 1024 * 1024;
    opened ??= openProject({ ...place, maxFileBytes }).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
