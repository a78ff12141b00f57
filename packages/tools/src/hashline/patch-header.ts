/** The line with which a section of a patch begins: `¶path#tag`. Pure. */

export const sectionSign = "¶";

export interface PatchHeader {
  path: string;
  /** The tag of the file as it was shown: four hex digits. */
  tag: string;
}

/** Whether a line of a patch should be a header. Lines of new text begin with `+`. */
export const isHeaderLine = (line: string): boolean => line.startsWith(sectionSign);

/** Undefined for a line that should be a header and is not one. */
export function parseHeader(line: string): PatchHeader | undefined {
  const text = line.trimEnd();
  const end = text.length - 5;
  const path = text.slice(sectionSign.length, Math.max(0, end)).trim();
  const tag = /^#([0-9a-f]{4})$/i.exec(text.slice(Math.max(0, end)))?.[1];
  return path === "" || tag === undefined ? undefined : { path, tag: tag.toLowerCase() };
}

/** The headers of a patch in order; undefined for each line that should be one and is not. */
export const listHeaders = (patch: string): (PatchHeader | undefined)[] =>
  patch.split("\n").filter(isHeaderLine).map(parseHeader);

/** The paths that a patch names, each once. */
export const listPatchPaths = (patch: string): string[] => [
  ...new Set(listHeaders(patch).flatMap((header) => header?.path ?? [])),
];
