/** The calls that a tool made, as rows below its own. No tool is known by its name. */
import type { NestedCall } from "../entry.ts";
import type { LiveTool } from "../view.ts";
import { getCallSubject } from "./call-title.ts";
import { toFields } from "./fields.ts";

export interface NestedCallRow {
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The argument that says best what the call is about; may be empty. */
  readonly subject: string;
  readonly state: "running" | "asked" | "done" | "failed" | "denied";
  /** 0 for a call of the tool itself, 1 for a call that such a call made. */
  readonly depth: number;
}

/** How many rows are shown of a call that is not expanded: the last ones, since they may be running. */
export const maxNestedRows = 5;

export const describeNestedState = (state: NestedCallRow["state"]): string =>
  state === "asked" ? "waits for your answer" : state;

export const hasSameRows = (a: readonly NestedCallRow[], b: readonly NestedCallRow[]): boolean =>
  a.length === b.length && a.every(({ id, state }, index) => id === b[index]!.id && state === b[index]!.state);

/** A log may come from another program, whose calls may stand below each other without an end. */
const maxDepth = 8;

type EndedCall = Omit<NestedCallRow, "depth">;

/** The calls of a session that are running, and those that a person is asked about. */
interface OpenCalls {
  readonly running: readonly LiveTool[];
  readonly askedIds: ReadonlySet<string>;
}

const noOpenCalls: OpenCalls = { running: [], askedIds: new Set() };

/** Keeps the nested calls of a log that have ended, until their parent has its result. */
export class EndedCalls {
  /** By the id of the parent, in the order in which they ended. */
  readonly #byParent = new Map<string, EndedCall[]>();

  add({ toolCallId: id, toolName: name, parentToolCallId: parentId, input, isError, errorCode }: NestedCall): void {
    const failed = errorCode === "denied" ? "denied" : "failed";
    const call: EndedCall = { id, name, subject: getCallSubject(toFields(input)), state: isError ? failed : "done" };
    const siblings = this.#byParent.get(parentId);
    if (siblings) siblings.push(call);
    else this.#byParent.set(parentId, [call]);
  }

  /** Adds those of older entries of the same log. */
  addOlder(older: EndedCalls): void {
    for (const [id, calls] of older.#byParent) this.#byParent.set(id, [...calls, ...(this.#byParent.get(id) ?? [])]);
  }

  /** Lists the rows below a call: the calls that have ended, then those that are running. */
  list(parentId: string, open: OpenCalls = noOpenCalls): NestedCallRow[] {
    return this.#list({ parentId, open, depth: 0, listedIds: new Set() });
  }

  /** Lists the rows below a call that has its result, and forgets them: its id may be used again. */
  take(parentId: string): NestedCallRow[] {
    const rows = this.list(parentId);
    for (const { id } of [{ id: parentId }, ...rows]) this.#byParent.delete(id);
    return rows;
  }

  clear(): void {
    this.#byParent.clear();
  }

  #list(place: { parentId: string; open: OpenCalls; depth: number; listedIds: Set<string> }): NestedCallRow[] {
    const { parentId, open, depth, listedIds } = place;
    if (depth > maxDepth || listedIds.has(parentId)) return [];
    listedIds.add(parentId);
    const { running, askedIds } = open;
    const ended = this.#byParent.get(parentId) ?? [];
    const endedIds = new Set(ended.map(({ id }) => id));
    const listBelow = (id: string, calls: readonly LiveTool[]) =>
      this.#list({ parentId: id, open: { running: calls, askedIds }, depth: depth + 1, listedIds });
    return [
      ...ended.flatMap((call) => [{ ...call, depth }, ...listBelow(call.id, [])]),
      ...running
        // The log has the end of a call before the event is there.
        .filter(({ id }) => !endedIds.has(id))
        .flatMap(({ id, name, input, calls }) => [
          { id, name, subject: getCallSubject(input), state: askedIds.has(id) ? "asked" : "running", depth } as const,
          ...listBelow(id, calls),
        ]),
    ];
  }
}
