/** The members of archives, as zip and tar have them. */
import { ToolsError } from "../errors.ts";

export interface ArchiveMember {
  /** The name in the archive. Nothing is ever written to a path of this name. */
  name: string;
  kind: "file" | "directory" | "link" | "other";
  /** In bytes, as the archive says. */
  size: number;
  /** `2026-11-19 10:30`; undefined if the archive does not say it. */
  modified: string | undefined;
  /** Says more, such as `encrypted` or where a link leads. */
  remark: string | undefined;
}

/** More are not listed: they would fill the memory. */
export const maxMembers = 100_000;

/** Removes what tools put before and behind names without a meaning. Pure. */
export function toPlainMemberName(name: string): string {
  const plain = name.replace(/^(?:\.\/)+/, "");
  let end = plain.length;
  // An expression would look for the end again at each slash, and a name may have a million.
  while (plain[end - 1] === "/") end--;
  return plain.slice(0, end);
}

/** Names are UTF-8, or of the time before that, when nobody said what they are. Pure. */
export function decodeMemberName(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? bytes.toString("latin1") : text;
}

export const damagedArchive = (path: string, what: string): ToolsError =>
  new ToolsError("binary", `${path} is a damaged archive: ${what}.`);

/** Undefined for a time that is none. Pure. */
export function formatMemberTime(seconds: number): string | undefined {
  const date = new Date(seconds * 1_000);
  return seconds <= 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999
    ? undefined
    : date.toISOString().slice(0, 16).replace("T", " ");
}
