/** Takes back and does again, or says what that would do, for every surface. */
import type { SessionReader } from "@tau/extensions";
import type { SessionEntry, UndoData } from "@tau/protocol";
import { UndoError } from "./failure.ts";
import { formatDiff, formatSummary, listShownFiles } from "./format-undo.ts";
import type { UndoTarget } from "./history.ts";
import { carryOut, prepareUndo, type PreparedUndo } from "./prepare-undo.ts";
import type { Project } from "./project.ts";

export interface UndoRequest {
  readonly direction: "undo" | "redo";
  /** Takes back everything that does not belong to the branch that ends here; null: everything. */
  readonly entryId?: string | null;
  /** Default: the files stay, and the answer says what would be written. */
  readonly apply?: boolean;
  /** That of such an answer: nothing is written if something else would be. */
  readonly digest?: string;
  /** Whether the conversation goes back too. */
  readonly conversation?: boolean;
}

type Reader = Pick<SessionReader, "getSessionId" | "getBranch" | "getEntry">;

export async function requestUndo(project: Project, request: UndoRequest, reader: Reader): Promise<UndoData> {
  const target = toTarget(request, reader);
  const sessionId = reader.getSessionId();
  return await project.alone(async () => {
    const prepared = await prepareUndo(project, sessionId, target);
    const data = await toUndoData(project, prepared);
    const leafId = findLeaf(request, prepared, reader);
    if (!request.apply || data.conflicts.length > 0 || prepared.chosen.length === 0)
      return { ...data, ...(leafId !== undefined && { leafId }) };
    if (request.digest !== undefined && request.digest !== prepared.digest)
      throw new UndoError("the files have changed since this was shown, so nothing was written. Look at it again");
    await carryOut(project, sessionId, prepared);
    return { ...data, done: true, ...(leafId !== undefined && { leafId }) };
  });
}

function toTarget({ direction, entryId }: UndoRequest, reader: Reader): UndoTarget {
  if (direction === "redo") return { kind: "redo" };
  if (entryId === undefined) return { kind: "last" };
  if (entryId === null) return { kind: "branch", entryIds: new Set() };
  if (!reader.getEntry(entryId)) throw new UndoError(`the session has no entry ${JSON.stringify(entryId)}`);
  return { kind: "branch", entryIds: new Set(reader.getBranch(entryId).map(({ id }) => id)) };
}

export async function toUndoData(project: Project, prepared: PreparedUndo): Promise<UndoData> {
  const { chosen, plan, lost, digest } = prepared;
  return {
    prompts: chosen.map(({ effect }) => effect.prompt),
    files: listShownFiles(prepared),
    conflicts: plan.conflicts.map(({ path, reason }) => ({ path, reason })),
    notKept: lost.map(({ path, reason }) => ({ path, reason })),
    summary: formatSummary(prepared),
    diff: await formatDiff(prepared, project.store),
    digest,
    done: false,
  };
}

/** Where the conversation is without the prompts that are taken back; undefined if none is. */
function findLeaf({ entryId }: UndoRequest, { chosen }: PreparedUndo, reader: Reader): string | null | undefined {
  if (entryId !== undefined) return entryId;
  const last = chosen.at(-1);
  if (last?.direction !== "back" || last.effect.entryId === null || !reader.getEntry(last.effect.entryId))
    return undefined;
  return findPrompt(reader.getBranch(last.effect.entryId))?.parentId;
}

type PromptEntry = SessionEntry & { type: "message" } & { message: { role: "user" } };

/** Finds the last prompt of a branch. */
export const findPrompt = (branch: readonly SessionEntry[]): PromptEntry | undefined =>
  branch.findLast((entry): entry is PromptEntry => entry.type === "message" && entry.message.role === "user");
