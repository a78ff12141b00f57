/** Files that were dragged into the terminal. Terminals paste their paths, each in its own way. Pure. */
import { unescape } from "node:querystring";

export interface DraggedFile {
  /** The path of an image, going by its name; undefined for another file. */
  imagePath: string | undefined;
  /** The text as the terminal pasted it, with the blanks around it. */
  pasted: string;
}

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const maxPasteLength = 20_000;
/** More paths than these are pasted as text. */
const maxFiles = 20;

/** In quotes, with escaped characters, or both, as in a shell. */
const word = /\s*(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+\s*/y;
const imageName = /\.(?:png|jpe?g|gif|webp)$/i;
const pathStart = /^(?:[/~.]|[A-Za-z]:)/;

/** The files of a paste that has paths of files only, one of them that of an image. Otherwise undefined. */
export function findDraggedFiles(data: string): DraggedFile[] | undefined {
  if (!data.startsWith(pasteStart) || !data.endsWith(pasteEnd) || data.length > maxPasteLength) return undefined;
  const lines = data.slice(pasteStart.length, -pasteEnd.length).match(/[\r\n]*[^\r\n]+[\r\n]*/g) ?? [];
  const files = lines.flatMap((line) => splitWords(line) ?? [parseFile(line, line.trim().replaceAll(/\\(.)/g, "$1"))]);
  const areFiles = files.length <= maxFiles && files.every((file) => file !== undefined);
  return areFiles && files.some(({ imagePath }) => imagePath !== undefined) ? files : undefined;
}

/** Undefined if a word is not a path: then the line may be one, with blanks that are not escaped. */
function splitWords(line: string): DraggedFile[] | undefined {
  const files: DraggedFile[] = [];
  word.lastIndex = 0;
  while (word.lastIndex < line.length) {
    const pasted = word.exec(line)?.[0];
    const file = pasted === undefined ? undefined : parseFile(pasted, unquote(pasted.trim()));
    if (!file) return undefined;
    files.push(file);
  }
  return files;
}

function parseFile(pasted: string, path: string): DraggedFile | undefined {
  // Not `decodeURIComponent`, which throws if anything is not well encoded.
  const local = path.startsWith("file://") ? unescape(path.replace(/^file:\/\/[^/]*/, "")) : path;
  if (!pathStart.test(local) || /[\r\n]/.test(local)) return undefined;
  return { imagePath: imageName.test(local) ? local : undefined, pasted };
}

/** Within double quotes a backslash is itself before most characters, as in paths of Windows. */
const unquote = (text: string): string =>
  text.replaceAll(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
    (_match, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
  );
