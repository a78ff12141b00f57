/** The status line of the user's own settings: a template of named parts, or what a command prints. */
import { basename } from "node:path";
import type { StateData, StatsData } from "@tau/protocol";
import { formatTokens, formatUsageLimit } from "@tau/protocol/surface";
import { toPlainLine } from "@tau/tui";
import { toStyledLine } from "./extensions/safe-text.ts";
import type { TerminalSettings } from "./settings.ts";
import { formatCost, shortenPath } from "./status-line.ts";
import type { UserCommand } from "./user-command.ts";

/** The facts that a status line can show. */
export interface StatusFacts {
  readonly state: StateData;
  readonly stats: StatsData;
  readonly branch: string | undefined;
  readonly sessionName: string | undefined;
  readonly home: string | undefined;
  readonly version: string;
}

type Part = (facts: StatusFacts) => string | undefined;

const parts: Readonly<Record<string, Part>> = {
  directory: ({ state, home }) => shortenPath(state.cwd, home),
  branch: ({ branch }) => branch,
  session: ({ sessionName }) => sessionName,
  model: ({ state }) => state.model && basename(state.model.id),
  provider: ({ state }) => state.model?.provider,
  role: ({ state }) => state.role,
  thinking: ({ state }) => (state.thinkingLevel === "off" ? undefined : state.thinkingLevel),
  mode: ({ state }) => state.permissions.mode,
  cost: ({ stats }) => (stats.cost > 0 ? formatCost(stats.cost) : undefined),
  day: ({ stats }) => formatLimit(stats, "day"),
  month: ({ stats }) => formatLimit(stats, "month"),
  context: ({ stats }) => stats.contextUsage && `${stats.contextUsage.percent.toFixed(0)}%`,
  window: ({ stats }) => stats.contextUsage && formatTokens(stats.contextUsage.contextWindow),
  input: ({ stats }) => (stats.tokens.input > 0 ? formatTokens(stats.tokens.input) : undefined),
  output: ({ stats }) => (stats.tokens.output > 0 ? formatTokens(stats.tokens.output) : undefined),
  messages: ({ stats }) => String(stats.totalMessages),
};

function formatLimit({ costLimits }: StatsData, period: "day" | "month"): string | undefined {
  const limit = costLimits?.find((each) => each.period === period);
  return limit && formatUsageLimit(limit);
}

/** Fills a template. Brackets around a part are left out together with it: `[ ({branch})]`. An unknown name stays. Pure. */
export function fillStatus(template: string, facts: StatusFacts): string {
  const fill = (text: string): { text: string; isEmpty: boolean } => {
    let isEmpty = false;
    const filled = text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      if (!Object.hasOwn(parts, name)) return whole;
      const value = parts[name]!(facts);
      if (value === undefined || value === "") isEmpty = true;
      return toPlainLine(value ?? "");
    });
    return { text: filled, isEmpty };
  };
  const pieces = template.split(/\[([^\][]*)\]/);
  return pieces
    .map((piece, index) => {
      const { text, isEmpty } = fill(piece);
      return index % 2 === 1 && isEmpty ? "" : text;
    })
    .join("");
}

/** The JSON that a command reads: Claude Code's fields. Pure. */
export function describeStatus({ state, stats, sessionName, version, branch }: StatusFacts): Record<string, unknown> {
  const { model, cwd, sessionId, sessionFile, thinkingLevel } = state;
  const { contextUsage: use, tokens } = stats;
  return {
    hook_event_name: "Status",
    session_id: sessionId,
    ...(sessionName !== undefined && { session_name: sessionName }),
    transcript_path: sessionFile ?? "",
    cwd,
    model: { id: model?.id ?? "", display_name: model?.name ?? model?.id ?? "", provider: model?.provider ?? "" },
    workspace: { current_dir: cwd, project_dir: cwd, ...(branch !== undefined && { git_branch: branch }) },
    version,
    output_style: { name: "default" },
    effort: { level: thinkingLevel },
    permission_mode: state.permissions.mode,
    cost: {
      total_cost_usd: stats.cost,
      ...(stats.costLimits && {
        limits: stats.costLimits.map(({ period, limit, spent, reserved }) => ({
          period,
          limit_usd: limit,
          spent_usd: spent,
          reserved_usd: reserved,
        })),
      }),
    },
    context_window: {
      context_window_size: use?.contextWindow ?? model?.contextWindow ?? 0,
      used_percentage: use?.percent ?? null,
      remaining_percentage: use ? 100 - use.percent : null,
      total_input_tokens: tokens.input + tokens.cacheRead + tokens.cacheWrite,
      total_output_tokens: tokens.output,
    },
    exceeds_200k_tokens: (use?.tokens ?? 0) > 200_000,
  };
}

/** The lines that a command may fill. */
const maxStatusLines = 3;

interface OwnStatusLineOptions {
  readonly getSetting: () => TerminalSettings["statusLine"];
  readonly command: Pick<UserCommand, "request">;
}

export class OwnStatusLine {
  readonly #options: OwnStatusLineOptions;
  #printed: readonly string[] | undefined;

  constructor(options: OwnStatusLineOptions) {
    this.#options = options;
  }

  /** Takes what the command printed last; undefined or nothing: the usual lines are shown. */
  take(output: string | undefined): void {
    const lines = (output ?? "").trimEnd().split("\n").slice(0, maxStatusLines).map(toStyledLine);
    this.#printed = lines.some((line) => line.trim() !== "") ? lines.map((line) => `${line}\x1b[0m`) : undefined;
  }

  /** Called when the facts have changed. */
  update(facts: StatusFacts): void {
    const setting = this.#options.getSetting();
    if (setting !== undefined && typeof setting !== "string")
      this.#options.command.request({ command: setting.command, cwd: facts.state.cwd, input: describeStatus(facts) });
  }

  /** Undefined where the usual lines are shown. */
  getLines(facts: StatusFacts): readonly string[] | undefined {
    const setting = this.#options.getSetting();
    if (setting === undefined) return undefined;
    if (typeof setting === "string") return [`${toStyledLine(fillStatus(setting, facts))}\x1b[0m`];
    const padding = " ".repeat(setting.padding ?? 0);
    return this.#printed?.map((line) => `${padding}${line}`);
  }
}
