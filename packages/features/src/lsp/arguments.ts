/** The arguments of the tool `lsp`. Pure. */
import { LspError } from "./failure.ts";

export const lspActions = [
  "definition",
  "type_definition",
  "implementation",
  "references",
  "hover",
  "code_actions",
  "symbols",
  "rename",
  "rename_file",
  "diagnostics",
  "status",
  "capabilities",
  "request",
  "reload",
] as const;

type LspAction = (typeof lspActions)[number];

export interface LspArguments {
  action: LspAction;
  file?: string | string[];
  /** From 1. */
  line?: number;
  symbol?: string;
  query?: string;
  new_name?: string;
  apply?: boolean;
  payload?: unknown;
  timeoutMs?: number;
}

const defaultTimeoutMs = 20_000;
const maxTimeoutMs = 600_000;

export const getTimeout = ({ timeoutMs = defaultTimeoutMs }: LspArguments): number =>
  Math.min(Math.max(timeoutMs, 100), maxTimeoutMs);

/** The paths of `file`, as the model wrote them. `*` stands for the project and is no path. */
export function listFiles({ file }: Pick<LspArguments, "file">): string[] {
  const files = Array.isArray(file) ? file : file === undefined ? [] : [file];
  return files.filter((path) => path !== "" && path !== "*");
}

export const isWholeProject = ({ file }: Pick<LspArguments, "file">): boolean =>
  file === "*" || (Array.isArray(file) && file.includes("*"));

/** The only file of the call. */
export function getFile(args: LspArguments): string {
  const [file, ...more] = listFiles(args);
  if (file === undefined) throw new LspError("invalid_input", `The action ${args.action} needs a file.`);
  if (more.length > 0) throw new LspError("invalid_input", `The action ${args.action} takes one file at a time.`);
  return file;
}

/** Methods that only ask. Any other one may change something. */
const askingMethods =
  /^(?:textDocument\/(?!did|will)|workspace\/(?:symbol|diagnostic|textDocumentContent)$|(?:completionItem|codeAction|codeLens|documentLink|inlayHint|workspaceSymbol)\/resolve$|(?:callHierarchy|typeHierarchy)\/)/;

export const mayChangeFiles = (method: string): boolean => !askingMethods.test(method);

/** The parameters of `request`: an object, or JSON text. */
export function parsePayload(payload: unknown): unknown {
  if (typeof payload !== "string") return payload;
  try {
    return JSON.parse(payload) as unknown;
  } catch (error) {
    throw new LspError("invalid_input", `\`payload\` is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A text on a line, and which of its occurrences. */
function parseSymbol(symbol: string): { name: string; occurrence: number } {
  const [, name, number] = /^(.+)#([1-9]\d{0,3})$/s.exec(symbol) ?? [];
  return name === undefined ? { name: symbol, occurrence: 1 } : { name, occurrence: Number(number) };
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}_$]/u.test(character);

/** Columns, from 0, where a line has a name. Whole words are preferred. */
function findColumns(line: string, name: string): number[] {
  const columns: number[] = [];
  for (let index = line.indexOf(name); index >= 0; index = line.indexOf(name, index + name.length)) columns.push(index);
  const whole = columns.filter((column) => {
    const [before, after] = [line[column - 1], line[column + name.length]];
    return !(isWord(name[0]) && isWord(before)) && !(isWord(name.at(-1)) && isWord(after));
  });
  return whole.length > 0 ? whole : columns;
}

/** The column, from 0, that a call means. Throws with what is there instead. */
export function findTargetColumn(line: string, symbol: string | undefined, place: string): number {
  if (symbol === undefined || symbol === "") return /\S/.exec(line)?.index ?? 0;
  const { name, occurrence } = parseSymbol(symbol);
  const columns = findColumns(line, name);
  // The line may have that very text, such as a color.
  const column = columns[occurrence - 1] ?? findColumns(line, symbol)[0];
  if (column !== undefined) return column;
  const shown = line.trim().slice(0, 200);
  throw new LspError(
    "invalid_input",
    columns.length === 0
      ? `"${name}" is not on ${place}: ${shown}`
      : `"${name}" is only ${columns.length} times on ${place}: ${shown}`,
  );
}
