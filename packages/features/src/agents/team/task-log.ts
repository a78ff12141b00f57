/** Reads the tasks of a session from its log, so that each is reported once, also after a restart. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";
import type { TaskStatus } from "./reports.ts";

/** The type of entries and messages. It is the name of the feature, which is loaded for them. */
export const customType = "agents";

/** An entry about one task. */
export type TaskEntry =
  /** The task waits until it can begin. */
  | { readonly kind: "asked"; readonly id: string; readonly description: string; readonly agent?: string }
  | {
      readonly kind: "started";
      readonly id: string;
      readonly sessionId: string;
      readonly description: string;
      readonly agent?: string;
      readonly isolated?: boolean;
    }
  /** `report` is for the model, should it not be delivered before the program ends. */
  | { readonly kind: "ended"; readonly id: string; readonly status: TaskStatus; readonly report: string };

/** The details of a message or a result that tells the model of tasks. */
export interface Delivered {
  /** The ids of tasks. */
  readonly delivered: readonly string[];
}

/** A task that a log knows. */
export interface KnownTask {
  readonly id: string;
  /** Undefined for a task that never began. */
  readonly sessionId: string | undefined;
  readonly description: string;
  readonly agent: string | undefined;
  /** It works in a copy of the repository. */
  readonly isIsolated: boolean;
  /** `cut` if it did not end. */
  readonly status: TaskStatus;
  readonly report: string | undefined;
  /** The model knows how it ended. */
  readonly isDelivered: boolean;
}

/** Reads the tasks of a log, in the order in which they began. Logs are not checked when they are read. */
export function readTasks(entries: readonly SessionEntry[]): Map<string, KnownTask> {
  const tasks = new Map<string, KnownTask>();
  const change = (id: unknown, changes: Partial<KnownTask>) => {
    const task = typeof id === "string" ? tasks.get(id) : undefined;
    if (task) tasks.set(task.id, { ...task, ...changes });
  };
  for (const entry of entries) {
    if (entry.type === "custom" && entry.customType === customType) {
      const { data } = entry;
      if (!isRecord(data)) continue;
      if (data["kind"] === "ended") change(data["id"], getEnd(data));
      else if (data["kind"] === "asked" || data["kind"] === "started") addTask(tasks, data);
    }
    for (const id of getDelivered(entry)) change(id, { isDelivered: true });
  }
  return tasks;
}

/** A task that is resumed keeps its session until it begins again. */
function addTask(tasks: Map<string, KnownTask>, data: Record<string, unknown>): void {
  const { kind, id, sessionId, description, agent, isolated } = data;
  if (typeof id !== "string" || (kind === "started" && typeof sessionId !== "string")) return;
  const before = tasks.get(id);
  tasks.set(id, {
    id,
    sessionId: typeof sessionId === "string" ? sessionId : before?.sessionId,
    description: typeof description === "string" ? description : "",
    agent: typeof agent === "string" ? agent : undefined,
    isIsolated: kind === "asked" ? (before?.isIsolated ?? false) : isolated === true,
    status: "cut",
    report: undefined,
    isDelivered: false,
  });
}

/** The tools whose results report tasks; the last one calls the others by name. */
const reportingTools: ReadonlySet<string> = new Set(["task", "agents", "call_tool"]);

const statuses: readonly unknown[] = ["done", "failed", "stopped"];

function getEnd({ status, report }: Record<string, unknown>): Partial<KnownTask> {
  return {
    status: statuses.includes(status) ? (status as TaskStatus) : "failed",
    report: typeof report === "string" ? report : "",
  };
}

function getDelivered(entry: SessionEntry): readonly unknown[] {
  const details = getDetails(entry);
  const delivered = isRecord(details) ? details["delivered"] : undefined;
  return Array.isArray(delivered) ? delivered : [];
}

function getDetails(entry: SessionEntry): unknown {
  if (entry.type === "custom_message") return entry.customType === customType ? entry.details : undefined;
  if (entry.type !== "message" || entry.message.role !== "toolResult") return undefined;
  return reportingTools.has(entry.message.toolName) ? entry.message.details : undefined;
}

/** Describes tasks to the model when their session is opened again; undefined if it knows everything. */
export function describeInterrupted(tasks: Iterable<KnownTask>): { content: string; details: Delivered } | undefined {
  const untold = [...tasks].filter(({ isDelivered }) => !isDelivered);
  if (untold.length === 0) return undefined;
  const list = (cut: readonly KnownTask[]) => cut.map(({ id, description }) => `${id} (${description})`).join(", ");
  const cut = untold.filter(({ status, sessionId }) => status === "cut" && sessionId !== undefined);
  const unbegun = untold.filter(({ status, sessionId }) => status === "cut" && sessionId === undefined);
  const ended = untold.flatMap(({ report }) => report ?? []);
  const lines = [
    ...(ended.length > 0 ? ["These tasks ended before the session was closed:", ...ended] : []),
    ...(cut.length > 0
      ? [
          `These tasks were cut when the session was closed: ${list(cut)}. To continue one, call task with its id as \`resume\`.`,
        ]
      : []),
    ...(unbegun.length > 0
      ? [`These tasks had not begun when the session was closed: ${list(unbegun)}. To have one done, give it again.`]
      : []),
  ];
  return { content: lines.join("\n\n"), details: { delivered: untold.map(({ id }) => id) } };
}

/** The highest number of a session's own tasks: the last part of their ids. */
export const getLastNumber = (ids: Iterable<string>): number =>
  Math.max(0, ...Array.from(ids, (id) => Number(id.slice(id.lastIndexOf(".") + 1)) || 0));
