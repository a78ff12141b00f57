/** The line below the editor: where we are, with which model, and what it has used. Pure. */
import { basename } from "node:path";
import {
  type BudgetLeftData,
  defaultPermissionMode,
  type ModelUse,
  type PermissionMode,
  type StatsData,
} from "@tau/protocol";
import { formatTokens, formatUsageLimit, isNearLimit, pluralise } from "@tau/protocol/surface";
import { type Theme, toPlainLine, truncateToWidth, visibleWidth } from "@tau/tui";

interface Status {
  cwd: string;
  home: string | undefined;
  branch: string | undefined;
  sessionName: string | undefined;
  /** `provider/id`; undefined if none is chosen. */
  model: string | undefined;
  /** The model that is used in its place; undefined if there is none. */
  used?: ModelUse | undefined;
  /** The role that the model was chosen by. */
  role?: string | undefined;
  thinkingLevel: string;
  stats: StatsData | undefined;
  /** Whether commands run without the sandbox although they should run in it where it works. */
  lacksSandbox: boolean;
  permissionMode: PermissionMode;
  /** How many commands run in the background. */
  jobs: number;
  /** The mode of an editor that has modes. */
  editorMode?: string | undefined;
}

/** Two lines: the directory, then use and model. What has no room is left out from the end. */
export function drawStatus(status: Status, theme: Theme, width: number): string[] {
  const { branch, sessionName } = status;
  const left = [shortenPath(status.cwd, status.home), branch ? `(${branch})` : "", sessionName ?? ""]
    .filter(Boolean)
    .join(" ");
  const role = status.role === undefined ? "" : ` (@${toPlainLine(status.role)})`;
  const model = status.model === undefined ? "no model" : `${basename(toPlainLine(status.model))}${role}`;
  const selected = withLevel(model, status.thinkingLevel);
  const { used } = status;
  const right = used ? `${selected} → ${withLevel(basename(toPlainLine(used.modelId)), used.thinkingLevel)}` : selected;
  return [drawPlace(toPlainLine(left), status, theme, width), drawUse(status.stats, right, theme, width)];
}

/**
 * Draws the lines of the user's own. What is out of the ordinary stays in sight below them; two lines are the least, so that
 * those above do not move when the first of them arrive.
 */
export function drawOwnStatus(lines: readonly string[], status: Status, theme: Theme, width: number): string[] {
  const isUnusual =
    status.lacksSandbox || status.editorMode !== undefined || status.permissionMode !== defaultPermissionMode;
  const own = lines.map((line) => truncateToWidth(line, width, "…"));
  const all = isUnusual ? [...own, drawPlace("", status, theme, width)] : own;
  return all.length < 2 ? [...all, ""] : all;
}

const withLevel = (model: string, level: string): string => (level === "off" ? model : `${model} · ${level}`);

/** Draws what runs in the background, and what is out of the ordinary. Jobs are left out where there is little room. */
function drawNotes({ jobs, lacksSandbox, editorMode }: Status, theme: Theme, width: number): string {
  const warnings = [
    ...(lacksSandbox ? [theme.fg("warning", "no sandbox")] : []),
    ...(editorMode === undefined ? [] : [theme.fg("accent", editorMode)]),
  ];
  const running = jobs === 0 ? [] : [theme.fg("dim", pluralise(jobs, "job"))];
  const separator = theme.fg("dim", " · ");
  const all = [...running, ...warnings].join(separator);
  return visibleWidth(all) <= width / 2 ? all : warnings.join(separator);
}

/** The directory gives way to the notes and to an unusual mode. The usual mode is left out where it does not fit. */
function drawPlace(place: string, status: Status, theme: Theme, width: number): string {
  const { permissionMode } = status;
  const modeWidth = visibleWidth(` · ${permissionMode}`);
  const isUsual = permissionMode === defaultPermissionMode;
  const notes = drawNotes(status, theme, isUsual ? width : width - modeWidth);
  const notesWidth = notes === "" ? 0 : visibleWidth(notes) + 2;
  const showsMode = !isUsual || visibleWidth(place) + modeWidth + notesWidth <= width;
  const mode = showsMode ? theme.fg(isUsual ? "dim" : "warning", permissionMode) : "";
  const room = width - notesWidth - (showsMode ? modeWidth : 0);
  const path = room < 1 || place === "" ? "" : theme.fg("dim", truncateToWidth(place, room, "…"));
  const left = [path, mode].filter(Boolean).join(theme.fg("dim", " · "));
  const gap = left === "" || notes === "" ? 0 : Math.max(1, width - visibleWidth(left) - visibleWidth(notes));
  return truncateToWidth(`${left}${" ".repeat(gap)}${notes}`, width, "…");
}

/** If there is not room for all, the limits of all sessions stay longest, and the model longer than those. */
function drawUse(stats: StatsData | undefined, right: string, theme: Theme, width: number): string {
  const use = { text: formatUse(stats), isNear: false };
  const budget = { text: formatBudget(stats?.budgetLeft), isNear: false };
  const limits = (stats?.costLimits ?? []).map((limit) => ({
    text: `${limit.period === "day" ? "today" : "month"} ${formatUsageLimit(limit)}`,
    isNear: isNearLimit(limit),
  }));
  const all = [use, budget, ...limits].filter(({ text }) => text !== "");
  const choices = [all, all.filter((part) => part !== use), limits];
  const getWidth = (parts: typeof all) => visibleWidth(parts.map(({ text }) => text).join(" · "));
  const left = choices.find((parts) => getWidth(parts) + visibleWidth(right) < width);
  if (left === undefined) return theme.fg("dim", truncateToWidth(right, width, "…"));
  const shown = left.map(({ text, isNear }) => theme.fg(isNear ? "warning" : "dim", text)).join(theme.fg("dim", " · "));
  return `${shown}${theme.fg("dim", `${" ".repeat(width - getWidth(left) - visibleWidth(right))}${right}`)}`;
}

function formatUse(stats: StatsData | undefined): string {
  if (!stats) return "";
  const { tokens, cost, contextUsage } = stats;
  const parts = [
    tokens.input > 0 ? `↑${formatTokens(tokens.input)}` : "",
    tokens.output > 0 ? `↓${formatTokens(tokens.output)}` : "",
    tokens.cacheRead > 0 ? `R${formatTokens(tokens.cacheRead)}` : "",
    cost > 0 ? formatCost(cost) : "",
    contextUsage ? `${contextUsage.percent.toFixed(1)}%/${formatTokens(contextUsage.contextWindow)}` : "",
  ];
  return parts.filter(Boolean).join(" ");
}

/** Empty if there is no budget. */
function formatBudget({ cost, tokens, turns, timeMs }: BudgetLeftData = {}): string {
  const parts = [
    cost === undefined ? "" : formatCost(cost),
    tokens === undefined ? "" : `${formatTokens(tokens)} tokens`,
    turns === undefined ? "" : pluralise(turns, "turn"),
    timeMs === undefined ? "" : formatTime(timeMs),
  ].filter(Boolean);
  return parts.length === 0 ? "" : `left: ${parts.join(", ")}`;
}

export const formatCost = (cost: number): string => `$${cost.toFixed(cost < 1 ? 3 : 2)}`;

function formatTime(timeMs: number): string {
  const seconds = Math.ceil(timeMs / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/** With `~` for the home directory. */
export function shortenPath(path: string, home: string | undefined): string {
  return home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;
}
