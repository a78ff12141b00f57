/** The actions of the tool `lsp` that change files: all files of an edit, or none. */
import { pathToFileURL } from "node:url";
import { isRecord } from "@tau/ai/internal";
import { toVisibleLine } from "../kit/visible-text.ts";
import { type ActionCall, type ActionResult, getOpenOptions, openTarget, refuseUnless } from "./actions.ts";
import { getFile } from "./arguments.ts";
import type { LspClient } from "./client.ts";
import { LspError } from "./failure.ts";
import type { ExecuteTool } from "./problems.ts";
import { type FileChange, toFileChanges } from "./edit-plan.ts";
import { parseWorkspaceEdit } from "./workspace-edit.ts";

interface ChangingCall extends ActionCall {
  readonly executeTool: ExecuteTool;
}

export async function rename(call: ChangingCall): Promise<ActionResult> {
  const { args } = call;
  if (!args.new_name) throw new LspError("invalid_input", "The action rename needs a new_name.");
  const { client, params, document } = await openTarget(call);
  refuseUnless(client, "renameProvider", "rename symbols");
  const changes = await askForChanges(call, client, () =>
    client.request("textDocument/rename", { ...params, newName: args.new_name }, getOpenOptions(call)),
  );
  if (changes.length === 0) throw new LspError("refused", `${client.name} found nothing to rename there.`);
  return await changeFiles(call, client, { changes, reason: `Rename to ${args.new_name} in ${document.path}` });
}

/** Renames a file, and what other files say about it. */
export async function renameFile(call: ChangingCall): Promise<ActionResult> {
  const { args, session } = call;
  if (!args.new_name) throw new LspError("invalid_input", "The action rename_file needs the new path in new_name.");
  const file = getFile(args);
  const [path, to] = [session.resolve(file), session.resolve(args.new_name)];
  const { client } = await session.openFile(file, getOpenOptions(call));
  const params = { files: [{ oldUri: pathToFileURL(path).href, newUri: pathToFileURL(to).href }] };
  const others = knowsRenames(client)
    ? await askForChanges(call, client, () => client.request("workspace/willRenameFiles", params, getOpenOptions(call)))
    : [];
  const changes: FileChange[] = [...others, { path, moveTo: to }];
  const result = await changeFiles(call, client, { changes, reason: `Rename ${file} to ${args.new_name}` });
  client.documents.close(path);
  client.notify("workspace/didRenameFiles", params);
  const note = knowsRenames(client)
    ? ""
    : `\n${client.name} does not update other files: look for the old name in them.`;
  return { ...result, text: result.text + note };
}

/** How often a server is asked that does not know all texts. */
const maxRounds = 3;
const maxOpened = 1_000;
/** Times of files may be this far behind the clock. */
const maxSkewMs = 1_000;

/** The changes that a server answers with, once it knows the texts of all their files as they are now. */
async function askForChanges(
  call: ChangingCall,
  client: LspClient,
  ask: () => Promise<unknown>,
): Promise<FileChange[]> {
  const { files, cwd } = call.session;
  for (let round = 0; round < maxRounds; round++) {
    const answer = await ask();
    if (!(await openUnknown(call, client, [answer]))) return await toFileChanges([answer], { client, files, cwd });
  }
  throw new LspError("refused", `Nothing was changed: ${client.name} names other files each time. Ask again.`);
}

/**
 * Opens the files of edits that the server may know an older text of: it does not notice what other programs change, and its positions
 * would be wrong. Resolves with whether there were any.
 */
async function openUnknown({ session }: ChangingCall, client: LspClient, edits: readonly unknown[]): Promise<boolean> {
  const { files } = session;
  const unknown: string[] = [];
  for (const path of listTextPaths(edits)) {
    if (client.documents.get(path) || !(await files.isInWorkspace(path))) continue;
    const changedAt = await files.getChangeTime(path);
    if (changedAt !== undefined && changedAt > client.startedAt - maxSkewMs) unknown.push(path);
  }
  if (unknown.length > maxOpened)
    throw new LspError(
      "refused",
      `Nothing was changed: ${unknown.length} of the files were changed since ${client.name} was started, and it may not have noticed. Use the action reload, then ask again.`,
    );
  for (const path of unknown) await session.sync(client, path, { keepsOthers: true });
  return unknown.length > 0;
}

const listTextPaths = (edits: readonly unknown[]): Set<string> =>
  new Set(edits.flatMap(parseWorkspaceEdit).flatMap((step) => (step.kind === "text" ? [step.path] : [])));

function knowsRenames({ capabilities }: LspClient): boolean {
  const workspace = isRecord(capabilities["workspace"]) ? capabilities["workspace"] : {};
  const operations = isRecord(workspace["fileOperations"]) ? workspace["fileOperations"] : {};
  return isRecord(operations["willRename"]);
}

interface CodeAction {
  readonly title: string;
  readonly kind: string;
  readonly client: LspClient;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Lists the actions for a line, or applies the one that the query names. */
export async function codeActions(call: ChangingCall): Promise<ActionResult> {
  const { args, session } = call;
  const { query = "", apply = false } = args;
  const all = await findCodeActions(call);
  const actions = all.filter((action, index) => isChosen(action, index + 1, query));
  if (!apply) {
    const lines = actions.map((action) => {
      const { title, kind } = action;
      return `${all.indexOf(action) + 1}. ${title}${kind === "" ? "" : ` (${kind})`}`;
    });
    return { text: lines.length === 0 ? "There are no code actions for this place." : lines.join("\n") };
  }
  const [action, ...more] = actions;
  if (!action) throw new LspError("invalid_input", `No code action matches "${query}" here: ${formatTitles(all)}`);
  if (more.length > 0)
    throw new LspError(
      "invalid_input",
      `Several code actions match: ${formatTitles(actions)} Name one in \`query\`, by its number or title.`,
    );
  const { client } = action;
  const edits = await resolveAction(call, action);
  if (await openUnknown(call, client, edits))
    throw new LspError(
      "refused",
      `Nothing was changed: ${client.name} did not know the current texts of all files. It does now, so ask again.`,
    );
  const changes = await toFileChanges(edits, { client, files: session.files, cwd: session.cwd });
  if (changes.length === 0) return { text: `${action.title}: it changed no files.` };
  return await changeFiles(call, client, { changes, reason: action.title });
}

/** By its number in the list, its title, a part of it, or its kind. */
function isChosen({ title, kind }: CodeAction, number: number, query: string): boolean {
  if (/^\d+$/.test(query)) return number === Number(query);
  return title.toLowerCase().includes(query.toLowerCase()) || kind === query;
}

const formatTitles = (actions: readonly CodeAction[]): string =>
  actions.length === 0
    ? "there are none."
    : `${actions
        .slice(0, 20)
        .map(({ title }) => `"${title}"`)
        .join(", ")}.`;

async function findCodeActions(call: ChangingCall): Promise<CodeAction[]> {
  const { session, signal } = call;
  const { path, position, client: main } = await openTarget(call);
  const { linters } = session.servers.choose(path);
  const lists = await Promise.all([
    askForActions(call, main, path, position.line),
    ...linters.map(async (linter) => {
      const client = await session.servers.open(linter, getOpenOptions(call));
      if (client === main) return [];
      await session.sync(client, path);
      return await askForActions(call, client, path, position.line);
    }),
  ]);
  if (signal?.aborted) throw new LspError("aborted", "The call was stopped.");
  return lists.flat();
}

async function askForActions(call: ChangingCall, client: LspClient, path: string, line: number): Promise<CodeAction[]> {
  if (!client.can("codeActionProvider")) return [];
  const document = client.documents.get(path)!;
  if (client.pullsDiagnostics) await client.pullDiagnostics({ ...document, isNew: false }, getOpenOptions(call));
  const { diagnostics = [] } = client.diagnostics.get(path) ?? {};
  const here = diagnostics.filter(({ range }) => range.start.line <= line && range.end.line >= line);
  const text = (await call.session.files.read(path)).lines.get(line) ?? "";
  const range = here[0]?.range ?? { start: { line, character: 0 }, end: { line, character: text.length } };
  const params = {
    textDocument: { uri: document.uri },
    range,
    context: { diagnostics: here.map(({ raw }) => raw), triggerKind: 1 },
  };
  const answer = await client.request("textDocument/codeAction", params, getOpenOptions(call));
  return (Array.isArray(answer) ? (answer as unknown[]) : []).slice(0, 200).flatMap((raw): CodeAction[] => {
    if (!isRecord(raw) || typeof raw["title"] !== "string" || raw["disabled"]) return [];
    const kind = typeof raw["kind"] === "string" ? toVisibleLine(raw["kind"], 100) : "";
    return [{ title: toVisibleLine(raw["title"], 200), kind, client, raw }];
  });
}

/** The edits of an action: its own, what it is completed with, and what its command asks for. */
async function resolveAction(call: ChangingCall, { client, raw }: CodeAction): Promise<unknown[]> {
  const options = getOpenOptions(call);
  const provider = client.capabilities["codeActionProvider"];
  const isWhole = raw["edit"] !== undefined || (raw["command"] !== undefined && raw["data"] === undefined);
  const isResolvable = isRecord(provider) && provider["resolveProvider"] === true && !isWhole;
  const action = isResolvable ? await client.request("codeAction/resolve", raw, options) : raw;
  if (!isRecord(action)) return [];
  const edits = action["edit"] === undefined ? [] : [action["edit"]];
  // A plain command has its name where an action has an object.
  const command = typeof action["command"] === "string" ? action : action["command"];
  if (!isRecord(command) || typeof command["command"] !== "string") return edits;
  const { command: name, arguments: args = [] } = command;
  const params = { command: name, arguments: args };
  return [...edits, ...(await client.collectEdits(() => client.request("workspace/executeCommand", params, options)))];
}

/** Changes files as `edit` would: with the same policy and snapshots, all or none, and with its own entry in the log. */
async function changeFiles(
  call: ChangingCall,
  client: LspClient,
  { changes, reason }: { changes: readonly FileChange[]; reason: string },
): Promise<ActionResult> {
  const { session, executeTool } = call;
  const { result, isError } = await executeTool("change_files", { changes, reason });
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (isError) throw new LspError("refused", `Nothing was changed: ${text}`);
  client.documents.closeOldest();
  const names = [...new Set(changes.map(({ path }) => session.files.show(path)))];
  const more = names.length > 20 ? ` and ${names.length - 20} more` : "";
  return { text: `Changed ${names.slice(0, 20).join(", ")}${more}.\n${text}` };
}

/** Lets a server know the new texts of its files. */
export async function announceChanges(
  session: ActionCall["session"],
  client: LspClient,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    // One that was moved or removed is closed by the next look at it.
    if (client.documents.get(path)) await session.sync(client, path).catch(() => client.documents.close(path));
  }
  const existing = await Promise.all(
    // A file that must not be read exists.
    paths.map(async (path) => (await session.files.getChangeTime(path).catch(() => 0)) !== undefined),
  );
  client.documents.announce(paths.map((path, index) => ({ path, exists: existing[index]! })));
}
