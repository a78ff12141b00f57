/** Sessions with the branches and children that they have, and the branches within one session. */
import type { SessionInfo } from "@tau/harness/session";
import { HarnessError } from "@tau/protocol";
import { describeEntry } from "@tau/protocol/surface";
import { systemCode } from "@tau/tools/platform";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type TreeNode, treeText } from "../process/table.ts";
import { formatProblems } from "./format-problems.ts";
import {
  type CommandContext,
  findSessionFile,
  listSessions,
  openCommandContext,
  readSession,
  reportDamage,
  reportSettingsProblems,
} from "./command-context.ts";
import { formatTitle, shortenIds } from "./sessions-list.ts";
import type { CommandArgs } from "./usage.ts";

export async function showTree(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io, args.value("session-dir"));
  const [reference] = args.positionals;
  if (reference !== undefined) return await showEntries(context, { reference, isJson: args.has("json") }, io);
  const sessions = await listSessions(context, io, { all: args.has("all") });
  reportDamage(sessions, io);
  const roots = buildTree(sessions, await readCosts(sessions, context));
  if (args.has("json")) return io.out(jsonLine(roots.map(toJson)));
  reportSettingsProblems(context, io);
  if (sessions.length === 0) io.err(`There are no sessions of ${context.cwd} yet.\n`);
  const shortIds = shortenIds(sessions.map(({ id }) => id));
  const ids = new Map(sessions.map((session, index) => [session, shortIds[index]!]));
  const toTreeNode = ({ session, cost, children }: SessionNode): TreeNode => {
    const origin = session.branchPoint === null ? "" : ` from ${session.branchPoint}`;
    const facts = [session.ending, cost > 0 ? `$${cost.toFixed(cost < 1 ? 3 : 2)}` : undefined].filter(Boolean);
    const suffix = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
    return {
      text: `${ids.get(session)}${origin}: ${formatTitle(session)}${suffix}`,
      children: children.map(toTreeNode),
    };
  };
  io.out(treeText(roots.map(toTreeNode), io));
}

interface SessionNode {
  session: SessionInfo;
  /** US dollars, with those of its children, which work for it. */
  cost: number;
  children: SessionNode[];
}

const toJson = ({ session, cost, children }: SessionNode): object => ({
  ...session,
  cost,
  children: children.map(toJson),
});

/** Sessions that cannot be read have no cost. */
async function readCosts(
  sessions: readonly SessionInfo[],
  context: CommandContext,
): Promise<ReadonlyMap<SessionInfo, number>> {
  const costs = new Map<SessionInfo, number>();
  for (const session of sessions) {
    try {
      const { cost } = await readSession(session.path, context, (log) => log.getTotals());
      costs.set(session, cost);
    } catch (error) {
      if (!(error instanceof HarnessError) && systemCode(error) === undefined) throw error;
    }
  }
  return costs;
}

/** Oldest first. A session whose parent is not in the list is a root. */
function buildTree(sessions: readonly SessionInfo[], costs: ReadonlyMap<SessionInfo, number>): SessionNode[] {
  const oldestFirst = sessions.toSorted((a, b) => a.created.getTime() - b.created.getTime());
  const toNode = (session: SessionInfo): SessionNode => ({ session, cost: costs.get(session) ?? 0, children: [] });
  const nodes = new Map(oldestFirst.map((session): [string, SessionNode] => [session.id, toNode(session)]));
  const roots: SessionNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.session.parentId ?? "");
    (parent && !isDescendant(parent, node, nodes) ? parent.children : roots).push(node);
  }
  return roots;
}

/** Files can name each other as parents, also in a circle. */
function isDescendant(start: SessionNode, ancestor: SessionNode, nodes: ReadonlyMap<string, SessionNode>): boolean {
  const seen = new Set<SessionNode>();
  let node: SessionNode | undefined = start;
  while (node && node !== ancestor && !seen.has(node)) {
    seen.add(node);
    node = nodes.get(node.session.parentId ?? "");
  }
  return node === ancestor;
}

async function showEntries(
  context: CommandContext,
  { reference, isJson }: { reference: string; isJson: boolean },
  io: Io,
): Promise<void> {
  const path = await findSessionFile(context, reference, io);
  const { source, problems } = await readSession(path, context, async (session) => ({
    source: await session.exportSource(),
    problems: session.problems,
  }));
  const { entries, leafId } = source;
  io.err(formatProblems(problems));
  if (isJson) return io.out(jsonLine({ leafId, entries }));
  const root = { text: "", children: [] as TreeNode[] };
  const nodes = new Map<string | null, typeof root>();
  for (const entry of entries) {
    const parent = nodes.get(entry.parentId) ?? root;
    const description = describeEntry(entry);
    // The children of a hidden entry are shown below its parent.
    if (!description) nodes.set(entry.id, parent);
    else {
      const suffix = entry.id === leafId ? " (here)" : "";
      const node = { text: `${entry.id} ${description.author}: ${description.text}${suffix}`, children: [] };
      parent.children.push(node);
      nodes.set(entry.id, node);
    }
  }
  io.out(treeText(root.children, io, { flattenChains: true }));
}
