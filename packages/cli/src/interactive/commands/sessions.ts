/** `/resume`: opens another session, also one of another directory. */
import { getErrorMessage } from "@tau/ai/internal";
import type { SearchHitData, SessionSummaryData } from "@tau/protocol";
import { type MessageQuery, MessageSearch, SessionPages } from "@tau/protocol/surface";
import { MessageSearchDialog } from "../dialogs/message-search.ts";
import { reservedRows } from "../dialogs/search-dialog.ts";
import { SessionDialog } from "../dialogs/sessions.ts";
import type { Interface } from "../interface.ts";
import { openTreeAt } from "./tree.ts";
import { changeTrust } from "./trust.ts";

export const resume = (ui: Interface): Promise<void> =>
  ui.settle(async () => {
    const choice = await chooseSession(ui);
    if (choice?.kind === "session") await openSession(ui, choice.session);
    if (choice?.kind === "search") await searchMessages(ui, choice);
  });

type Choice = { kind: "session"; session: SessionSummaryData } | { kind: "search"; text: string; all: boolean };

const chooseSession = (ui: Interface) =>
  ui.open<Choice | undefined>((finish) => {
    const pages = new SessionPages<SessionSummaryData>({
      fetchPage: (params) => ui.client.execute({ type: "list_sessions", ...params }),
      onChange: (error) => {
        if (error !== undefined) dialog.say(getErrorMessage(error));
        ui.redraw();
      },
      pageSize: 100,
    });
    const dialog: SessionDialog = new SessionDialog({
      pages,
      theme: ui.theme,
      home: ui.program.home,
      now: () => ui.program.now(),
      getMaxRows: () => ui.rows - reservedRows,
      describeKey: (id) => ui.describeKey(id),
      onSelect: (session) => finish({ kind: "session", session }),
      onSearch: (text) => finish({ kind: "search", text, all: pages.query.all }),
      onCancel: () => finish(undefined),
      onRename: ({ path, name }) =>
        ui.run(async () => {
          const text = await ui.ask("New name of the session", { initial: name ?? "" });
          if (text === undefined || text.trim() === "") return;
          change(async () => {
            await ui.client.execute({ type: "rename_session", session: path, name: text });
            return { message: "Renamed.", selected: path };
          });
        }),
      onDelete: ({ path }) =>
        change(async () => {
          const { id } = await ui.client.execute({ type: "delete_session", session: path });
          return { message: "Deleted.", deleted: id };
        }),
      onRestore: (id) =>
        change(async () => {
          await ui.client.execute({ type: "restore_session", session: id });
          return { message: "It is back." };
        }),
    });
    /** Makes a change. A failure is shown in the dialog, since remarks are behind it. */
    const change = (work: () => Promise<{ message: string; deleted?: string; selected?: string }>) =>
      ui.run(async () => {
        try {
          const { message, deleted, selected } = await work();
          dialog.say(message, deleted);
          await pages.refresh();
          if (selected !== undefined) dialog.select(selected);
        } catch (error) {
          dialog.say(getErrorMessage(error));
        }
        ui.redraw();
      });
    void pages.load();
    return dialog;
  });

/** Opens the session of a message, and its tree at that message. */
async function searchMessages(ui: Interface, query: MessageQuery): Promise<void> {
  const hit = await ui.open<SearchHitData | undefined>((finish) => {
    const search = new MessageSearch({
      search: (params) => ui.client.execute({ type: "search_sessions", ...params, limit: 100 }),
      onChange: (error) => {
        dialog.say(error === undefined ? undefined : getErrorMessage(error));
        ui.redraw();
      },
      query,
    });
    const dialog: MessageSearchDialog = new MessageSearchDialog({
      search,
      theme: ui.theme,
      now: () => ui.program.now(),
      getMaxRows: () => ui.rows - reservedRows,
      describeKey: (id) => ui.describeKey(id),
      onSelect: finish,
      onCancel: () => finish(undefined),
    });
    void search.load({});
    return dialog;
  });
  if (!hit) return;
  await openSession(ui, hit.session);
  if (hit.entryId !== undefined) await openTreeAt(ui, hit.entryId);
}

/** Opens a session, which may be of another directory. */
export async function openSession(
  ui: Interface,
  { path, cwd }: Pick<SessionSummaryData, "path" | "cwd">,
): Promise<void> {
  const { cwd: here } = await ui.client.execute({ type: "get_state" });
  if (cwd === "" || cwd === here) {
    const { sessionId } = await ui.client.execute({ type: "switch_session", sessionPath: path });
    return await ui.show(sessionId);
  }
  const client = await ui.program.openSession(path, cwd).catch(async (error: unknown) => {
    if (await ui.program.isDirectory(cwd)) throw error;
  });
  if (!client) return await offerCopy(ui, { path, cwd });
  await ui.move(client);
  const trust = await client.execute({ type: "get_trust" });
  if (!trust.trusted && trust.files.length > 0) await changeTrust(ui);
}

/** A session never works in another directory than its own. If that is gone, a copy can work in this one. */
async function offerCopy(ui: Interface, { path, cwd }: Pick<SessionSummaryData, "path" | "cwd">): Promise<void> {
  const items = [
    { value: "copy", label: "Continue a copy of it here", description: "The session itself stays as it is." },
    { value: "no", label: "Leave it" },
  ];
  const title = `The directory of this session does not exist any more: ${cwd}`;
  if ((await ui.choose(title, items)) !== "copy") return;
  const { sessionId } = await ui.client.execute({ type: "import_session", path });
  await ui.show(sessionId);
}
