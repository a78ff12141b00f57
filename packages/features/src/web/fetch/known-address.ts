/** Addresses that need no question: those that the person wrote, and those that a search returned. Pure. */
import { asRecord, isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";
import { getWrittenText } from "../../kit/written-text.ts";
import { searchTool } from "../feature.ts";

interface SessionFacts {
  readonly branch: readonly SessionEntry[];
  /** Whether its prompts are those of another session, and not of a person. */
  readonly isChild: boolean;
}

/** Whether exactly this address was written by the person, or returned by `web_search`. */
export function isKnownAddress(url: URL, { branch, isChild }: SessionFacts): boolean {
  if (branch.some((entry) => listSearched(entry).includes(url.href))) return true;
  // Messages of strangers look like those of the person.
  if (isChild || branch.some(isMessageOfStranger)) return false;
  return branch.some((entry) => hasAddress(getWritten(entry), url));
}

const isMessageOfStranger = (entry: SessionEntry): boolean =>
  entry.type === "custom" && entry.customType === "tau.tainted" && asRecord(entry.data)["source"] === "message";

function listSearched(entry: SessionEntry): readonly unknown[] {
  if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
  const { toolName, isError, details } = entry.message;
  if (toolName !== searchTool.name || isError) return [];
  const { results } = asRecord(details as unknown);
  return Array.isArray(results) ? results.filter(isRecord).map(({ url }) => url) : [];
}

const getWritten = (entry: SessionEntry): string =>
  entry.type === "message" && entry.message.role === "user" ? getWrittenText(entry.message.content) : "";

/** Whether a text has the address as a word of its own, with or without its scheme or the slash at its end. */
function hasAddress(text: string, url: URL): boolean {
  const bare = url.href.slice(url.protocol.length + 2);
  const forms = new Set([bare, bare.replace(/\/$/, ""), decode(bare)]);
  return [...forms].some((form) => {
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
      if (beginsAddress(text.slice(Math.max(0, start - 8), start), url) && endsAddress(text.slice(start + form.length)))
        return true;
    }
    return false;
  });
}

/** The text before it ends with the scheme, or with something that is no part of an address. */
const beginsAddress = (before: string, { protocol }: URL): boolean =>
  new RegExp(String.raw`(?:^|[\s"'<>()[\]{}\`,;])(?:${protocol}//)?$`, "i").test(before);

/** The text after it is a space, a bracket, or punctuation at the end of a word. A fragment is not sent. */
const endsAddress = (after: string): boolean =>
  /^(?:#\S*)?(?:$|[\s"'<>()[\]{}`]|[.,;:!?]+(?:$|[\s"'<>)\]}`]))/.test(after);

function decode(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
