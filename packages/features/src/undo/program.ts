/** `tau undo`. */
import { systemClock } from "@tau/ai";
import { getFeatureSettings, type ProgramContext } from "@tau/extensions";
import { acquireLease } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import { formatEffect } from "./format-undo.ts";
import { carryOut, prepareUndo } from "./prepare-undo.ts";
import { openProject, type Project, type SessionHistory } from "./project.ts";
import { toUndoData } from "./request-undo.ts";
import { undoSettings } from "./settings.ts";

export async function runUndoCommand(context: ProgramContext): Promise<"failed" | void> {
  const { cwd, agentDir, settings, out } = context;
  const { undo } = getFeatureSettings({ getSettings: () => settings.get() }, undoSettings);
  const project = await openProject({ cwd, agentDir, maxFileBytes: undo.maxFileMb * 1024 * 1024, clock: systemClock });
  const history = await chooseHistory(project, context.value("session"));
  if (!history) return void out("There is nothing to take back here.\n");
  if (context.has("list")) return list(history, context);
  const run = await acquireLease(project.getRunPath(history.sessionId));
  if (run.kind === "busy")
    throw new UndoError(`A run of the session ${history.sessionId} is changing files. Wait for it, or abort it.`);
  try {
    return await takeBack(project, history, context);
  } finally {
    await run.lease.release();
  }
}

async function takeBack(project: Project, { sessionId }: SessionHistory, context: ProgramContext) {
  const { out, err } = context;
  const show = () =>
    project.alone(async () => {
      const prepared = await prepareUndo(project, sessionId, { kind: "last" });
      return { prepared, data: await toUndoData(project, prepared) };
    });
  const { prepared, data } = await show();
  if (data.prompts.length === 0) return void out("There is nothing to take back here.\n");
  if (data.diff !== "") out(`${data.diff}\n`);
  out(`${data.summary}\n`);
  if (data.conflicts.length > 0) return "failed";
  if (!context.has("yes")) {
    if (!context.ask) {
      err("Nothing was written. Pass --yes to write it.\n");
      return "failed";
    }
    const answer = await context.ask("Take this back? [y/N] ", { signal: context.signal });
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return void out("Nothing was written.\n");
  }
  await project.alone(async () => {
    const again = await prepareUndo(project, sessionId, { kind: "last" });
    if (again.digest !== prepared.digest)
      throw new UndoError("The files have changed since this was shown, so nothing was written. Look at it again.");
    await carryOut(project, sessionId, again);
  });
  return void out("Taken back. /redo in the session does it again.\n");
}

/** Throws for a session without a history that was named. */
async function chooseHistory(project: Project, sessionId: string | undefined): Promise<SessionHistory | undefined> {
  const histories = await project.listHistories();
  if (sessionId !== undefined) {
    const matches = histories.filter((history) => history.sessionId.startsWith(sessionId));
    if (matches.length === 1) return matches[0];
    const problem = matches.length === 0 ? "has changed no files here" : "is not the only one with this beginning";
    throw new UndoError(`The session ${sessionId} ${problem}.`);
  }
  const getTime = ({ effects }: SessionHistory) =>
    Math.max(0, ...effects.filter(({ undone }) => undone === undefined).map(({ at }) => at));
  const latest = histories.toSorted((a, b) => getTime(b) - getTime(a))[0];
  return latest && getTime(latest) > 0 ? latest : undefined;
}

function list({ sessionId, effects }: SessionHistory, { out }: ProgramContext): void {
  out(`Session ${sessionId}, the last prompt first:\n`);
  for (const effect of effects.toReversed()) out(`${formatEffect(effect)}\n`);
}
