/** Shows what a session has cost, and how full its context is. */
import { describeUsageLimit, formatTokens } from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { formatCost } from "../text/format.ts";
import type { SessionPanelProps } from "./model-panel.tsx";

export function StatsPanel({ session, info, onClose }: SessionPanelProps) {
  const attempt = useAttempt();
  const { stats } = info;
  const usage = stats?.contextUsage;
  const compact = () =>
    attempt.run(async () => {
      await session.call("compact", {}, { isLasting: false });
      await info.refresh();
    });
  const rows: [string, string][] = stats
    ? [
        ["Cost", formatCost(stats.cost)],
        ["Input", formatTokens(stats.tokens.input)],
        ["Output", formatTokens(stats.tokens.output)],
        ["Read from the cache", formatTokens(stats.tokens.cacheRead)],
        ["Written to the cache", formatTokens(stats.tokens.cacheWrite)],
        ["Messages", String(stats.totalMessages)],
        ["Tool calls", String(stats.toolCalls)],
      ]
    : [];
  return (
    <Dialog title="Cost and context" onClose={onClose}>
      {usage && (
        <div class="context">
          <meter min={0} max={100} high={80} value={usage.percent} aria-label="Context used" />
          <p class="muted small">
            {formatTokens(usage.tokens)} of {formatTokens(usage.contextWindow)} tokens of context (
            {Math.round(usage.percent)}%)
          </p>
        </div>
      )}
      <dl class="figures">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {stats?.costLimits?.map((limit) => (
        <p class="small" key={limit.period}>
          {describeUsageLimit(limit)}
        </p>
      ))}
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <div class="buttons">
        <button class="button" disabled={attempt.isBusy} onClick={() => void compact()}>
          {attempt.isBusy ? "Summarising…" : "Summarise the conversation now"}
        </button>
      </div>
    </Dialog>
  );
}
