/** Commands that only read. */
import { HarnessError } from "@tau/protocol";
import { flag, optional, nonEmptyText, text, wholeNumber } from "@tau/config/fields";
import { complete } from "../../completion/complete.ts";
import { FileCompletion } from "../../completion/file-completion.ts";
import { listSlashCommands } from "../../prompt/slash-commands.ts";
import { getLastAnswer, listForkMessages, toStateData, toStatsData } from "../data.ts";
import { unknownEntry } from "../errors.ts";
import { command, type CommandContext, type SomeCommands } from "./command.ts";

/**
 * How many bytes of entries a client gets at once. A slow connection shows no progress within a message, so a client that
 * gets more may take a connection that works for one that is lost.
 */
export const maxPageBytes = 1024 * 1024;

export const stateCommands = {
  get_state: command({}, ({ hosted }) => toStateData(hosted)),
  get_messages: command({}, ({ session }) => ({ messages: [...session.messages] })),
  get_session_stats: command({}, async (context) => ({
    ...(await toStatsData(context.session)),
    ...(await getCostLimits(context)),
  })),
  get_last_assistant_text: command({}, ({ session }) => ({ text: getLastAnswer(session) })),
  get_commands: command({}, ({ session }) => ({ commands: listSlashCommands(session) })),
  get_entries: command(
    {
      since: optional(text),
      before: optional(nonEmptyText),
      after: optional(nonEmptyText),
      limit: optional(wholeNumber({ min: 1, unit: "entries" })),
    },
    async ({ session: { sessionManager } }, { since, ...page }) => {
      const leafId = sessionManager.getLeafId();
      const isPage = Object.keys(page).length > 0;
      if (isPage && since !== undefined) {
        const message =
          '"since" is about the whole log, and "before", "after" and "limit" about the shown branch: use either.';
        throw new HarnessError("invalid_parameters", message);
      }
      if (isPage) {
        return { entries: (await sessionManager.getBranchPage({ ...page, maxBytes: maxPageBytes })).entries, leafId };
      }
      const entries = await sessionManager.getEntries();
      if (since === undefined) return { entries, leafId };
      const index = entries.findIndex(({ id }) => id === since);
      if (index < 0) throw unknownEntry(since);
      return { entries: entries.slice(index + 1), leafId };
    },
  ),
  get_tree: command({}, async ({ session: { sessionManager } }) => ({
    tree: await sessionManager.getTree(),
    leafId: sessionManager.getLeafId(),
  })),
  get_fork_messages: command({}, async ({ session }) => ({ messages: await listForkMessages(session) })),
  complete: command(
    { text, cursor: wholeNumber({ min: 0, unit: "characters" }), paths: optional(flag) },
    ({ hosted, session }, input) => {
      const { cwd, namedFiles } = session;
      hosted.files ??= new FileCompletion({
        cwd,
        listAdded: () => session.addedDirectories,
        mayShow: (path) => namedFiles.mayRead(path),
      });
      return complete({ session, files: hosted.files }, input);
    },
  ),
} satisfies SomeCommands;

/** Tells nobody what other sessions have used who may not see it. */
async function getCostLimits({ session, options: { scopes } }: CommandContext) {
  if (session.isTenant || (scopes && !scopes.includes("admin"))) return {};
  const costLimits = await session.getCostLimits();
  return costLimits.length > 0 && { costLimits };
}
