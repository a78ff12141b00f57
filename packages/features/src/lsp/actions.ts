/** The actions of the tool `lsp` that ask. */
import { isRecord, sleep } from "@tau/ai/internal";
import type { CodePlace } from "@tau/protocol/surface";
import { formatJson } from "../kit/format-json.ts";
import type { SyntaxSymbols } from "../kit/syntax/symbols.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import {
  findTargetColumn,
  getFile,
  getTimeout,
  listFiles,
  type LspArguments,
  mayChangeFiles,
  parsePayload,
} from "./arguments.ts";
import type { LspClient } from "./client.ts";
import { LspError } from "./failure.ts";
import { formatPlaces, type Location, maxShownPlaces, parseLocations, toPlace, toPlaces } from "./locations.ts";
import { type Position, toCharacter } from "./positions.ts";
import type { LspSession, OpenFile, OpenOptions } from "./session.ts";
import { nameInside, parseSymbols } from "./symbols.ts";

export interface ActionResult {
  readonly text: string;
  readonly places?: readonly CodePlace[];
}

export interface ActionCall {
  readonly session: LspSession;
  readonly args: LspArguments;
  readonly signal: AbortSignal | undefined;
}

export const getOpenOptions = ({ args, signal }: ActionCall): OpenOptions => ({ timeoutMs: getTimeout(args), signal });

/** Opens the file of a call, and finds the position that the call means in it. */
export async function openTarget(call: ActionCall): Promise<OpenFile & { position: Position; params: object }> {
  const { session, args } = call;
  const file = getFile(args);
  const { line, symbol, action } = args;
  if (line === undefined) throw new LspError("invalid_input", `The action ${action} needs a line, counted from 1.`);
  const { lines } = await session.files.read(session.resolve(file));
  const text = lines.get(line - 1);
  if (text === undefined) throw new LspError("invalid_input", `${file} has ${lines.count} lines and no line ${line}.`);
  const column = findTargetColumn(text, symbol, `line ${line} of ${file}`);
  const opened = await session.openFile(file, getOpenOptions(call));
  const position = { line: line - 1, character: toCharacter(text, column, opened.client.positionEncoding) };
  return { ...opened, position, params: { textDocument: { uri: opened.document.uri }, position } };
}

export function refuseUnless(client: LspClient, capability: string, what: string): void {
  if (!client.can(capability)) throw new LspError("unsupported", `${client.name} cannot ${what}.`);
}

const locating = {
  definition: { method: "textDocument/definition", capability: "definitionProvider", what: "find definitions" },
  type_definition: {
    method: "textDocument/typeDefinition",
    capability: "typeDefinitionProvider",
    what: "find definitions of types",
  },
  implementation: {
    method: "textDocument/implementation",
    capability: "implementationProvider",
    what: "find implementations",
  },
} as const;

/** `definition`, `type_definition` and `implementation`. */
export async function locate(call: ActionCall, action: keyof typeof locating): Promise<ActionResult> {
  const { method, capability, what } = locating[action];
  const { client, params } = await openTarget(call);
  refuseUnless(client, capability, what);
  const answer = await client.request(method, params, getOpenOptions(call));
  return await showLocations(call, client, parseLocations(answer), { context: 3 });
}

/** How often `references` is asked again while a server loads, and after which time. */
const referenceRetries = 2;
const referenceRetryMs = 250;

export async function findReferences(call: ActionCall): Promise<ActionResult> {
  const { client, params } = await openTarget(call);
  refuseUnless(client, "referencesProvider", "find references");
  const ask = async () =>
    parseLocations(
      await client.request(
        "textDocument/references",
        { ...params, context: { includeDeclaration: true } },
        getOpenOptions(call),
      ),
    );
  let locations = await ask();
  for (let retry = 0; retry < referenceRetries && client.isLoading; retry++) {
    await sleep(client.clock, referenceRetryMs, call.signal);
    locations = await ask();
  }
  const result = await showLocations(call, client, locations, { context: 0 });
  const note = client.isLoading ? `\n${client.name} is still loading the project: there may be more.` : "";
  return { ...result, text: result.text + note };
}

async function showLocations(
  { session }: ActionCall,
  client: LspClient,
  locations: readonly Location[],
  { context }: { context: number },
): Promise<ActionResult> {
  if (locations.length === 0) return { text: "Nothing was found.", places: [] };
  const options = { files: session.files, encoding: client.positionEncoding };
  const places = await toPlaces(locations, { ...options, context: locations.length <= 3 ? context : 0 });
  return { text: formatPlaces(places, locations.length), places };
}

export async function hover(call: ActionCall): Promise<ActionResult> {
  const { client, params } = await openTarget(call);
  refuseUnless(client, "hoverProvider", "describe symbols");
  const answer = await client.request("textDocument/hover", params, getOpenOptions(call));
  const text = formatHover(isRecord(answer) ? answer["contents"] : undefined).slice(0, maxHoverLength);
  return { text: text === "" ? "The server knows nothing about it." : text };
}

const maxHoverLength = 16_000;

/** The text of all forms that a hover may have. */
function formatHover(contents: unknown): string {
  if (typeof contents === "string") return toVisible(contents.slice(0, maxHoverLength)).trim();
  if (Array.isArray(contents)) return contents.slice(0, 20).map(formatHover).filter(Boolean).join("\n\n");
  if (!isRecord(contents) || typeof contents["value"] !== "string") return "";
  const value = formatHover(contents["value"]);
  const { language } = contents;
  return typeof language === "string" ? `\`\`\`${toVisibleLine(language, 50)}\n${value}\n\`\`\`` : value;
}

/** Lists the symbols of a file, by its syntax tree where no server is installed for it, or those of the project. */
export async function findSymbols(call: ActionCall, syntax: SyntaxSymbols): Promise<ActionResult> {
  const { session, args } = call;
  const options = getOpenOptions(call);
  const { query = "" } = args;
  if (listFiles(args).length > 0) {
    const parsed = await parseWithoutServer(call, syntax);
    if (parsed) return parsed;
    const { client, document, path } = await session.openFile(getFile(args), options);
    refuseUnless(client, "documentSymbolProvider", "list the symbols of a file");
    const params = { textDocument: { uri: document.uri } };
    const symbols = parseSymbols(await client.request("textDocument/documentSymbol", params, options), path);
    return await showSymbols(call, client, query === "" ? symbols : symbols.filter(({ name }) => isMatch(name, query)));
  }
  if (query === "") throw new LspError("invalid_input", "The action symbols needs a file, or a query for the project.");
  const client = await openProjectServer(call);
  refuseUnless(client, "workspaceSymbolProvider", "search the symbols of a project");
  return await showSymbols(call, client, parseSymbols(await client.request("workspace/symbol", { query }, options)));
}

/** Lists symbols by the syntax tree. Undefined if a server is installed for the file, or if there is no grammar for it. */
async function parseWithoutServer(
  { session, args }: ActionCall,
  syntax: SyntaxSymbols,
): Promise<ActionResult | undefined> {
  const { query = "" } = args;
  const path = session.resolve(getFile(args));
  if (session.servers.hasServer(path) || !syntax.knows(path)) return undefined;
  const { lines } = await session.files.read(path);
  const result = await syntax.list(session.files.show(path), lines.text);
  if (result.kind === "unavailable")
    throw new LspError("unavailable", `${session.servers.describeMissing(path)} ${result.message}`);
  const places = nameInside(result.symbols).filter(({ name }) => isMatch(name, query));
  const shown = places.slice(0, maxShownSymbols);
  const text = shown.length === 0 ? "No symbols were found." : formatPlaces(shown, places.length);
  return {
    text: `${text}\nThese are from the syntax tree: no language server for this file is installed.`,
    places: shown,
  };
}

const maxShownSymbols = maxShownPlaces * 2;

const isMatch = (name: string, query: string): boolean => name.toLowerCase().includes(query.toLowerCase());

async function showSymbols(
  { session }: ActionCall,
  client: LspClient,
  symbols: ReturnType<typeof parseSymbols>,
): Promise<ActionResult> {
  if (symbols.length === 0) return { text: "No symbols were found.", places: [] };
  const options = { files: session.files, encoding: client.positionEncoding };
  const shown = await Promise.all(
    symbols.slice(0, maxShownSymbols).map(async ({ name, kind, ...location }): Promise<CodePlace> => {
      const { excerpt: _excerpt, ...place } = await toPlace(location, options);
      return { ...place, name, kind };
    }),
  );
  return { text: formatPlaces(shown, symbols.length), places: shown };
}

/** A server for questions about the whole project: one that runs, else the first that fits and is installed. */
export async function openProjectServer(call: ActionCall): Promise<LspClient> {
  const { session, args } = call;
  const options = getOpenOptions(call);
  if (listFiles(args).length > 0) return (await session.openFile(getFile(args), options)).client;
  const fitting = session.servers.listFitting();
  const found = fitting.flatMap(({ program, ...rest }) =>
    program === undefined || rest.definition.isLinter ? [] : [{ ...rest, program }],
  );
  const running = await session.servers.listRunning();
  const own = running.find(({ client }) =>
    found.some(({ root, definition }) => client.root === root && client.name === definition.name),
  );
  if (own) return own.client;
  if (found[0]) return await session.servers.open(found[0], options);
  if (running[0]) return running[0].client;
  const wanted = fitting.map(({ definition }) => `${definition.name} (${definition.install})`).join("; ");
  const advice = wanted === "" ? "Name a file of the language." : `Any of these would do: ${wanted}.`;
  throw new LspError("unavailable", `No language server for this project is running or installed. ${advice}`);
}

const maxAnswerLength = 32_000;

/** Sends any request. The policy has judged one that may change files as writing. */
export async function request(call: ActionCall): Promise<ActionResult> {
  const { args } = call;
  const { query: method } = args;
  if (method === undefined || !/^[\w$-]+(?:\/[\w$-]+)+$/.test(method))
    throw new LspError("invalid_input", "The action request needs a method in `query`, such as textDocument/hover.");
  const payload = parsePayload(args.payload);
  const { client, params: own } = await openRequest(call);
  const params = isRecord(payload) ? { ...own, ...payload } : (payload ?? own);
  const answer = await client.request(method, params, getOpenOptions(call));
  const text = toVisible(formatJson(answer ?? null, { maxLength: maxAnswerLength, indent: 1 }).text);
  const note = mayChangeFiles(method) ? "\nEdits that the server asked for on its own were refused." : "";
  return { text: text + note };
}

/** The server of a request, and the parameters that the arguments of the call stand for. */
async function openRequest(call: ActionCall): Promise<{ client: LspClient; params: object }> {
  const { args, session } = call;
  if (listFiles(args).length === 0) return { client: await openProjectServer(call), params: {} };
  if (args.line !== undefined) return await openTarget(call);
  const { client, document } = await session.openFile(getFile(args), getOpenOptions(call));
  return { client, params: { textDocument: { uri: document.uri } } };
}
