/** Plans as entries of a log and as files in the agent directory: one in the project would change what the user trusts. */
import { join } from "node:path";
import { type Clock, type Ids } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";
import { writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { getProjectName } from "../kit/project-name.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";

export interface Plan {
  readonly name: string;
  /** Markdown. */
  readonly content: string;
}

export type PlanState = "proposed" | "changed" | "accepted" | "refused";

export const planEntryType = "plan";

const maxNameLength = 100;
const maxContentLength = 100_000;

/** Throws an error for the model. Pure. */
export function parsePlan(args: unknown): Plan {
  const { name, content } = isRecord(args) ? args : {};
  if (typeof name !== "string" || name.trim() === "") throw new Error("`name` is empty.");
  if (typeof content !== "string" || content.trim() === "") throw new Error("`content` is empty.");
  if (content.length > maxContentLength)
    throw new Error(`The plan is longer than ${maxContentLength} characters: propose a shorter one.`);
  return { name: toVisibleLine(name, maxNameLength), content: toVisible(content).trim() };
}

/** The plan as Markdown, with its name as heading unless it has one. Pure. */
export const formatPlan = ({ name, content }: Plan): string =>
  content.startsWith("# ") ? content : `# ${name}\n\n${content}`;

/** A file name from the time and the name of a plan. Pure. */
export function toFileName(name: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(":", "-");
  const words = name
    .toLowerCase()
    .normalize("NFKD")
    .match(/[a-z0-9]+/g) ?? ["plan"];
  return `${time}-${words.join("-").slice(0, 60)}.md`;
}

interface PlanPlace {
  agentDir: string;
  cwd: string;
  clock: Pick<Clock, "now">;
  ids: Ids;
}

/** Writes a plan, and resolves with the path. A plan with the same name in the same second is replaced. */
export async function writePlan(plan: Plan, { agentDir, cwd, clock, ids }: PlanPlace): Promise<string> {
  const path = join(agentDir, "plans", getProjectName(cwd), toFileName(plan.name, clock.now()));
  await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(`${formatPlan(plan)}\n`), ids });
  return path;
}

/** The last plan on a branch, as it was proposed or changed; undefined if there is none. Pure. */
export function findLastPlan(branch: readonly SessionEntry[]): Plan | undefined {
  for (const entry of branch.toReversed()) {
    if (entry.type !== "custom" || entry.customType !== planEntryType || !isRecord(entry.data)) continue;
    const { name, content } = entry.data;
    if (typeof name === "string" && typeof content === "string") return { name, content };
  }
  return undefined;
}
