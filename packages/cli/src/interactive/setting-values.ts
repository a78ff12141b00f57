/** Values of settings as the user reads and types them. Pure. */
import type { SettingData } from "@tau/protocol";
import { fuzzyFilter } from "@tau/tui";

/** Texts without quotes, everything else as JSON. */
export function formatSetting(value: unknown): string {
  if (value === undefined) return "(none)";
  return typeof value === "string" && value.trim() !== "" ? value : JSON.stringify(value);
}

/** The settings that people change, with the names under which they are listed first. */
export const commonSettings: ReadonlyMap<string, string> = new Map([
  ["theme", "Colors"],
  ["defaultModel", "Model of new sessions"],
  ["defaultThinkingLevel", "Thinking of new sessions"],
  ["enabledModels", "Models to cycle through"],
  ["policy.permissionMode", "What is allowed without asking"],
  ["sandbox.mode", "Sandbox for commands"],
  ["sandbox.network", "Network in the sandbox"],
  ["hideThinkingBlock", "Fold thinking"],
  ["tuiMode", "Full screen or scrollback"],
  ["terminal.notifications", "Notifications"],
  ["compaction.enabled", "Compact long conversations"],
  ["steeringMode", "Messages during a run"],
  ["doubleEscapeAction", "Escape twice"],
  ["limits.runMs", "Longest run"],
  ["httpProxy", "Proxy"],
  ["quietStartup", "Quiet start"],
]);

/** The common settings first, in their order. */
export function orderSettings(settings: readonly SettingData[]): { common: SettingData[]; others: SettingData[] } {
  const byKey = new Map(settings.map((setting) => [setting.key, setting]));
  const common = [...commonSettings.keys()].flatMap((key) => byKey.get(key) ?? []).slice(0, maxCommon);
  const others = settings.filter((setting) => !common.includes(setting));
  return { common, others };
}

const maxCommon = 15;

const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const isTime = ({ key, type }: Pick<SettingData, "key" | "type">): boolean => type === "number" && key.endsWith("Ms");

/** The value as a person reads it: a time as `48h`. */
export function formatValue(setting: Pick<SettingData, "key" | "type">, value: unknown): string {
  if (!isTime(setting) || typeof value !== "number" || value === 0) return formatSetting(value);
  const [unit, ms] = units.find(([, length]) => value % length === 0) ?? ["ms", 1];
  return `${value / ms}${unit}`;
}

/** Milliseconds of a text such as `48h` or `90s`; undefined for any other text. */
function parseTime(text: string): number | undefined {
  const [, amount, name] = /^(\d+(?:\.\d+)?)\s*(h|m|s|ms)$/.exec(text) ?? [];
  const ms = units.find(([unit]) => unit === name)?.[1];
  return amount === undefined || ms === undefined ? undefined : Math.round(Number(amount) * ms);
}

/** Where the value comes from, and what it would be otherwise. */
export function describeOrigin(setting: SettingData): string {
  const { origin, own, default: standard } = setting;
  // Where there is no value, the description says what happens then.
  const usual = standard === undefined ? "" : `Default: ${formatValue(setting, standard)}. `;
  if (origin === "default") return usual === "" ? "It is not set." : usual.trimEnd();
  if (origin === "global") return `${usual}You have set it.`;
  if (origin === "run") return `${usual}It is set for this run only.`;
  const yours = own === undefined ? "" : ` Elsewhere your own counts: ${formatValue(setting, own)}.`;
  return `${usual}This project sets it.${yours}`;
}

/** The other value of a setting that has two. Undefined for all other settings. */
export function getOtherValue({ choices, value }: SettingData): unknown {
  return choices?.length === 2 ? choices.find((choice) => choice !== value) : undefined;
}

/** Returns what is written into the user's file for a value: nothing for the default, so that a later default applies. */
export const toStored = ({ default: standard }: SettingData, value: unknown): unknown =>
  JSON.stringify(value) === JSON.stringify(standard) ? undefined : value;

/** Finds settings. Those whose name matches come first, then those whose description has every word. */
export function searchSettings(settings: readonly SettingData[], query: string): readonly SettingData[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return settings;
  const named = fuzzyFilter([...settings], query, ({ key }) => key);
  const titled = settings.filter(({ key }) =>
    words.every((word) => commonSettings.get(key)?.toLowerCase().includes(word)),
  );
  const described = settings.filter(({ description }) =>
    words.every((word) => description.toLowerCase().includes(word)),
  );
  return [...new Set([...named, ...titled, ...described])];
}

/** Parses what was typed. A list may also be typed without JSON, with commas. */
export function parseSetting(setting: SettingData, text: string): unknown {
  const { type } = setting;
  if (type === "string") return text;
  const trimmed = text.trim();
  const ms = isTime(setting) ? parseTime(trimmed) : undefined;
  if (ms !== undefined) return ms;
  if (type.endsWith("[]") && !trimmed.startsWith("[")) return trimmed.split(/\s*,\s*/).filter((item) => item !== "");
  try {
    return JSON.parse(trimmed);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The session checks it, and says what it should be.
    return trimmed;
  }
}

/** Returns the text that the user changes when they edit a setting that has no choices. */
export function toEditable(setting: SettingData): string {
  const { type, own } = setting;
  if (own === undefined || own === null) return "";
  if (isTime(setting)) return formatValue(setting, own);
  if (type === "string") return String(own);
  return Array.isArray(own) && own.every((item) => typeof item === "string" && !item.includes(","))
    ? own.join(", ")
    : JSON.stringify(own);
}
