/** `/tree`: goes to another entry of the session. */
import { reservedRows } from "../dialogs/search-dialog.ts";
import { TreeDialog } from "../dialogs/tree.ts";
import { waitFor } from "../dialogs/wait.ts";
import type { Interface } from "../interface.ts";
import { offerFiles } from "./files-too.ts";
import {
  createSessionTree,
  leavesMessages,
  type SessionTree,
  type SessionTreeItem,
  toTarget,
  type TreeFilter,
  treeFilters,
} from "../tree-model.ts";

/** `args` may be the id of an entry. */
export const openTree = (ui: Interface, args: string): Promise<void> => openTreeAt(ui, args.trim() || undefined);

/** Opens the tree with an entry selected; without one, that at which the session is. */
export async function openTreeAt(ui: Interface, entryId: string | undefined): Promise<void> {
  const { tree: roots, leafId } = await ui.client.execute({ type: "get_tree" });
  const tree = createSessionTree(roots, leafId);
  if (tree.nodes.length === 0) return ui.say("The session is empty.");
  if (entryId !== undefined && !tree.indexes.has(entryId))
    ui.say(`This session has no entry ${JSON.stringify(entryId.slice(0, 128))}.`, "warning");
  const { filter, skipsPrompt } = await readSettings(ui);
  for (let selected = entryId; ;) {
    const item = await chooseItem(ui, tree, filter, selected);
    if (!item) return;
    const target = toTarget(item);
    if (item.id === leafId && target.text === undefined) return ui.say("The session is there already.");
    const summary = skipsPrompt || !leavesMessages(tree, target.entryId) ? {} : await askSummary(ui);
    selected = item.id;
    // Back to the tree.
    if (!summary || !(await offerFiles(ui, target.entryId))) continue;
    await navigate(ui, target.entryId, summary);
    if (target.text !== undefined) ui.setEditorText(target.text);
    return;
  }
}

/** Settings of a newer or older host may be missing. */
async function readSettings(ui: Interface): Promise<{ filter: TreeFilter; skipsPrompt: boolean }> {
  const { settings } = await ui.client.execute({ type: "get_settings" });
  const { branchSummary } = settings as { branchSummary?: { skipPrompt?: boolean } };
  const filter = treeFilters.find((name) => name === settings["treeFilterMode"]) ?? "default";
  return { filter, skipsPrompt: branchSummary?.skipPrompt === true };
}

const chooseItem = (ui: Interface, tree: SessionTree, filter: TreeFilter, selected: string | undefined) =>
  ui.open<SessionTreeItem | undefined>((finish) => {
    const dialog: TreeDialog = new TreeDialog({
      tree,
      theme: ui.theme,
      filter,
      ...(selected !== undefined && { selected }),
      getMaxRows: () => ui.rows - reservedRows,
      describeKey: (id) => ui.describeKey(id),
      onSelect: finish,
      onCancel: () => finish(undefined),
      onCopy: (text) => ui.copy(text),
      onLabel: (item) => ui.run(() => editLabel(ui, item, dialog)),
    });
    return dialog;
  });

async function editLabel(ui: Interface, item: SessionTreeItem, dialog: TreeDialog): Promise<void> {
  const text = await ui.ask("Label (empty: none)", { initial: item.label ?? "" });
  if (text === undefined) return;
  const label = text.trim();
  await ui.client.execute({ type: "set_label", entryId: item.id, ...(label !== "" && { label }) });
  item.label = label === "" ? undefined : label;
  dialog.update();
  ui.redraw();
}

interface Summary {
  summarise?: true;
  instructions?: string;
}

/** Undefined if the user changed their mind. */
async function askSummary(ui: Interface): Promise<Summary | undefined> {
  const choice = await ui.choose("Summarise the branch that you leave?", [
    { value: "no", label: "No summary" },
    { value: "yes", label: "Summary" },
    { value: "instructions", label: "Summary with instructions" },
  ]);
  if (choice === undefined) return undefined;
  if (choice === "no") return {};
  if (choice === "yes") return { summarise: true };
  const instructions = await ui.ask("What should the summary pay attention to?");
  return instructions === undefined ? undefined : { summarise: true, instructions };
}

async function navigate(ui: Interface, entryId: string | null, summary: Summary): Promise<void> {
  const navigating = ui.client.execute({ type: "navigate", entryId, ...summary });
  if (!summary.summarise) return void (await navigating);
  await waitFor(ui, navigating, {
    text: "Summarising the branch. Escape stops it.",
    onCancel: () => ui.run(async () => void (await ui.client.execute({ type: "abort" }))),
  });
}
