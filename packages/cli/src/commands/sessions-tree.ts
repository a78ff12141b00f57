/** Which session came from which; and within one, which entry followed which. */
import type { SessionInfo } from "@tau/harness/session";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { type TreeNode, treeText } from "../table.ts";
import { describeEntry } from "./describe-entry.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext, readSession, sessionFile, tellProblems } from "./command-context.ts";
import { sessionsAsked, shortIds, formatTitle } from "./sessions-list.ts";

export async function showTree(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io, given.value("session-dir"));
  const [session] = given.places;
  if (session !== undefined) return await showEntries(context, { session, isJson: given.has("json") }, io);
  const found = await sessionsAsked(context, given.has("all"), io);
  const roots = getFamily(found);
  if (given.has("json")) {
    io.out(jsonLine(roots.map(plainFamily)));
    return exitCodes.done;
  }
  tellProblems(context, io);
  const ids = new Map(shortIds(found.map(({ id }) => id)).map((short, at) => [found[at]!, short]));
  if (found.length === 0) io.err(`There are no sessions of ${context.cwd} yet.\n`);
  io.out(
    treeText(
      roots.map((root) => drawn(root, ids)),
      io,
    ),
  );
  return exitCodes.done;
}

interface Family {
  session: SessionInfo;
  children: Family[];
}

/** The oldest first. Whose parent is not among them stands for itself. */
function getFamily(found: readonly SessionInfo[]): Family[] {
  const families = new Map(found.map((session) => [session.id, { session, children: [] as Family[] }]));
  const roots: Family[] = [];
  for (const family of [...families.values()].sort(
    (a, b) => a.session.created.getTime() - b.session.created.getTime(),
  )) {
    const parent = families.get(family.session.parentId ?? "");
    // Files can claim to be each other's parents.
    (parent && !comesFrom(parent.session, family.session, families) ? parent.children : roots).push(family);
  }
  return roots;
}

function comesFrom(session: SessionInfo, ancestor: SessionInfo, families: ReadonlyMap<string, Family>): boolean {
  const seen = new Set<SessionInfo>();
  for (let at: SessionInfo | undefined = session; at && !seen.has(at); at = families.get(at.parentId ?? "")?.session) {
    if (at === ancestor) return true;
    seen.add(at);
  }
  return false;
}

function drawn({ session, children }: Family, ids: ReadonlyMap<SessionInfo, string>): TreeNode {
  const from = session.branchPoint === null ? "" : ` from ${session.branchPoint}`;
  const text = `${ids.get(session) ?? session.id}${from}: ${formatTitle(session)}`;
  return { text, children: children.map((child) => drawn(child, ids)) };
}

const plainFamily = ({ session, children }: Family): object => ({ ...session, children: children.map(plainFamily) });

async function showEntries(
  context: CommandContext,
  { session: name, isJson }: { session: string; isJson: boolean },
  io: Io,
): Promise<ExitCode> {
  const path = await sessionFile(context, name, io);
  const { entries, leafId } = await readSession(path, context, (session) => session.exportSource());
  if (isJson) {
    io.out(jsonLine({ leafId, entries }));
    return exitCodes.done;
  }
  const nodes = new Map<string | null, { text: string; children: TreeNode[] }>();
  const top = { text: "", children: [] as TreeNode[] };
  // What is not shown hands its children to what it hangs on itself.
  for (const entry of entries) {
    const parent = nodes.get(entry.parentId) ?? top;
    const said = describeEntry(entry);
    if (!said.isShown) {
      nodes.set(entry.id, parent);
      continue;
    }
    const here = entry.id === leafId ? " (here)" : "";
    const node = { text: `${entry.id} ${said.who}: ${said.text}${here}`, children: [] };
    parent.children.push(node);
    nodes.set(entry.id, node);
  }
  io.out(treeText(top.children, io, { chains: true }));
  return exitCodes.done;
}
