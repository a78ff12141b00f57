/** Which key a piece of input is. */
import { type KeyId, normalizeKey } from "./key.ts";
import { getReportedKeys, getReportedText, isOtherKeyReport, parseReport } from "./report.ts";
import { altKeys, legacyKeys } from "./tables.ts";

let kittyProtocolActive = false;

/** Whether the terminal reports keys by the protocol of Kitty, which changes what a few sequences mean. */
export function setKittyProtocolActive(active: boolean): void {
  kittyProtocolActive = active;
}

export const isKittyProtocolActive = (): boolean => kittyProtocolActive;

/** Where Kitty's protocol is active, Enter never sends these: people configure them for Shift and Enter. */
const kittyOverrides = new Map<string, readonly string[]>([
  ["\n", ["shift+enter", "ctrl+j"]],
  ["\x1b\r", ["shift+enter"]],
]);

/** Windows Terminal sends DEL for Backspace and BS for Backspace with Ctrl. */
const isWindowsTerminal = (): boolean =>
  Boolean(process.env["WT_SESSION"]) &&
  !(process.env["SSH_CONNECTION"] || process.env["SSH_CLIENT"] || process.env["SSH_TTY"]);

/** All keys that the input can stand for, spelled as `formatKey` does. Several keys send the same in many terminals. */
function getKeys(data: string): readonly string[] {
  if (data.length === 1 && data > " " && data <= "~") {
    return /[A-Z]/.test(data) ? [data, `shift+${data.toLowerCase()}`] : [data];
  }
  if (data === " ") return ["space"];
  if (data === "\b" && isWindowsTerminal()) return ["ctrl+backspace", "ctrl+h"];
  const override = kittyProtocolActive ? kittyOverrides.get(data) : undefined;
  if (override) return override;
  const legacy = legacyKeys.get(data) ?? [];
  const alt = kittyProtocolActive ? undefined : altKeys.get(data);
  if (alt || legacy.length > 0) return [...legacy, ...(alt ?? [])];
  const report = parseReport(data);
  return report ? getReportedKeys(report) : [];
}

const normalized = new Map<string, string>();

/** Whether the input is the key. Modifiers may come in any order and letters in any case. */
export function matchesKey(data: string, keyId: KeyId): boolean {
  const keys = getKeys(data);
  if (keys.length === 0) return false;
  let key = normalized.get(keyId);
  if (key === undefined) normalized.set(keyId, (key = normalizeKey(keyId)));
  return keys.includes(key);
}

/** The likeliest key, with its modifiers in the order shift, ctrl, alt, super; undefined if the input is no key. */
export const parseKey = (data: string): string | undefined => getKeys(data)[0];

export const isKeyRelease = (data: string): boolean => parseReport(data)?.event === "release";

export const isKeyRepeat = (data: string): boolean => parseReport(data)?.event === "repeat";

/** The character that a report of Kitty's protocol writes; undefined for other input, and with Ctrl, Alt or Super. */
export const decodeKittyPrintable = (data: string): string | undefined =>
  isOtherKeyReport(data) ? undefined : decodePrintableKey(data);

/** Like `decodeKittyPrintable`, also for modifyOtherKeys. */
export function decodePrintableKey(data: string): string | undefined {
  const report = parseReport(data);
  return report && getReportedText(report);
}
