/** Values of settings as the user reads and types them. Pure. */
import type { SettingData } from "@tau/protocol";
import { fuzzyFilter } from "@tau/tui";

/** Texts without quotes, everything else as JSON. */
export function formatSetting(value: unknown): string {
  if (value === undefined) return "(none)";
  return typeof value === "string" && value.trim() !== "" ? value : JSON.stringify(value);
}

/** Where the value comes from, and what it would be otherwise. */
export function describeOrigin({ origin, own, default: standard }: SettingData): string {
  // Where there is no value, the description says what happens then.
  const usual = standard === undefined ? "" : `Default: ${formatSetting(standard)}. `;
  if (origin === "default") return usual === "" ? "It is not set." : usual.trimEnd();
  if (origin === "global") return `${usual}You have set it.`;
  const yours = own === undefined ? "" : ` Elsewhere your own counts: ${formatSetting(own)}.`;
  return `${usual}This project sets it.${yours}`;
}

/** The other value of a setting that has two. Undefined for all other settings. */
export function getOtherValue({ choices, value }: SettingData): unknown {
  return choices?.length === 2 ? choices.find((choice) => choice !== value) : undefined;
}

/** What is written into the user's file for a value: nothing for the default, so that a later default counts. */
export const toStored = ({ default: standard }: SettingData, value: unknown): unknown =>
  JSON.stringify(value) === JSON.stringify(standard) ? undefined : value;

/** Those whose name matches come first, then those whose description has every word. */
export function searchSettings(settings: readonly SettingData[], query: string): readonly SettingData[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return settings;
  const named = fuzzyFilter([...settings], query, ({ key }) => key);
  const described = settings.filter(({ description }) =>
    words.every((word) => description.toLowerCase().includes(word)),
  );
  return [...new Set([...named, ...described])];
}

/** What was typed. A list may also be typed without JSON, with commas. */
export function parseSetting({ type }: SettingData, text: string): unknown {
  if (type === "string") return text;
  const trimmed = text.trim();
  if (type.endsWith("[]") && !trimmed.startsWith("[")) return trimmed.split(/\s*,\s*/).filter((item) => item !== "");
  try {
    return JSON.parse(trimmed);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The session checks it, and says what it should be.
    return trimmed;
  }
}

/** What the user changes when they edit a setting that has no choices. */
export function toEditable({ type, own }: SettingData): string {
  if (own === undefined || own === null) return "";
  if (type === "string") return String(own);
  return Array.isArray(own) && own.every((item) => typeof item === "string" && !item.includes(","))
    ? own.join(", ")
    : JSON.stringify(own);
}
