/** Where a session works, what it has used and its model. */
import { homedir } from "node:os";
import type { AgentState } from "@tau/agent";
import { type Component, truncateToWidth, visibleWidth } from "@tau/tui";
import type { SessionManager } from "../session/session-manager.ts";
import { theme } from "../theme/theme.ts";

/** The members of pi's `AgentSession` that the footer reads. */
interface FooterSession {
  readonly sessionManager: Pick<SessionManager, "getCwd" | "getEntries" | "getSessionName">;
  readonly state: Pick<AgentState, "model" | "thinkingLevel">;
  getContextUsage(): { contextWindow: number; percent: number | null } | undefined;
}

interface FooterData {
  getGitBranch(): string | null;
  getExtensionStatuses(): ReadonlyMap<string, string>;
  getAvailableProviderCount(): number;
}

export class FooterComponent implements Component {
  readonly #session: FooterSession;
  readonly #data: FooterData;
  #isAutoCompact = true;

  constructor(session: FooterSession, footerData: FooterData) {
    this.#session = session;
    this.#data = footerData;
  }

  setAutoCompactEnabled(enabled: boolean): void {
    this.#isAutoCompact = enabled;
  }

  invalidate(): void {}
  dispose(): void {}

  render(width: number): string[] {
    const statuses = [...this.#data.getExtensionStatuses()].sort(([a], [b]) => (a < b ? -1 : 1));
    const status = statuses.map(([, text]) => text.replace(/\s+/g, " ").trim()).join(" ");
    return [
      theme.fg("dim", truncateToWidth(this.#getPlace(), width)),
      theme.fg("dim", joinSides(this.#getUse(), this.#getModel(), width)),
      ...(status === "" ? [] : [truncateToWidth(status, width)]),
    ];
  }

  #getPlace(): string {
    const cwd = this.#session.sessionManager.getCwd();
    const home = homedir();
    const short = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
    const branch = this.#data.getGitBranch();
    const name = this.#session.sessionManager.getSessionName();
    return `${short}${branch ? ` (${branch})` : ""}${name ? ` • ${name}` : ""}`;
  }

  #getUse(): string {
    let [input, output, cost] = [0, 0, 0];
    for (const entry of this.#session.sessionManager.getEntries()) {
      if (entry.type !== "message" || entry.message.role !== "assistant") continue;
      input += entry.message.usage.input;
      output += entry.message.usage.output;
      cost += entry.message.usage.cost.total;
    }
    const usage = this.#session.getContextUsage();
    const percent = usage?.percent === null || usage === undefined ? "?" : usage.percent.toFixed(1);
    const context = `${percent}%/${formatTokens(usage?.contextWindow ?? 0)}${this.#isAutoCompact ? " (auto)" : ""}`;
    return [
      ...(input > 0 ? [`↑${formatTokens(input)}`] : []),
      ...(output > 0 ? [`↓${formatTokens(output)}`] : []),
      ...(cost > 0 ? [`$${cost.toFixed(3)}`] : []),
      context,
    ].join(" ");
  }

  #getModel(): string {
    const { model, thinkingLevel } = this.#session.state;
    const level = model?.reasoning ? ` • ${thinkingLevel === "off" ? "thinking off" : thinkingLevel}` : "";
    const provider = this.#data.getAvailableProviderCount() > 1 && model ? `(${model.provider}) ` : "";
    return `${provider}${model?.id ?? "no-model"}${level}`;
  }
}

function joinSides(left: string, right: string, width: number): string {
  const gap = width - visibleWidth(left) - visibleWidth(right);
  if (gap >= 2) return `${left}${" ".repeat(gap)}${right}`;
  const room = width - visibleWidth(left) - 2;
  return truncateToWidth(room > 0 ? `${left}  ${truncateToWidth(right, room)}` : left, width);
}

function formatTokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 10_000) return `${(count / 1_000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
