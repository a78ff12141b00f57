/** Shows what all sessions have used: limits, a chart by day, and tables by project, model, tool and agent. */
import type { UsageGroup, UsageReport, UsageReportData } from "@tau/protocol";
import type { GatewayClient } from "@tau/protocol/client";
import { describeUsageLimit, getUsageBars, usageTables } from "@tau/protocol/surface";
import { useState } from "preact/hooks";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";
import { fillDays } from "./fill-days.ts";

const periods: readonly { since: string; label: string }[] = [
  { since: "today", label: "Today" },
  { since: "6d", label: "7 days" },
  { since: "29d", label: "30 days" },
  { since: "364d", label: "365 days" },
];

const groups = ["project", "model", "tool", "agent"] as const satisfies readonly UsageGroup[];

export function UsagePanel({ client }: { client: GatewayClient }) {
  const [since, setSince] = useState("29d");
  const load = async () => {
    // The first report reads the logs that have changed, the others what it has remembered of them.
    const days = await client.call("usage.report", { by: "day", since });
    const tables = await Promise.all(groups.map((by) => client.call("usage.report", { by, since })));
    return { days, tables };
  };
  const [loaded, retry] = useLoaded(load, [client, since]);
  return (
    <>
      <div class="buttons" role="group" aria-label="Period">
        {periods.map((period) => (
          <button
            key={period.since}
            class="button"
            aria-pressed={period.since === since}
            onClick={() => setSince(period.since)}
          >
            {period.label}
          </button>
        ))}
      </div>
      {loaded.kind === "loading" && <p class="muted">Loading…</p>}
      {loaded.kind === "failed" && (
        <div role="alert">
          <p class="problem">{loaded.message}</p>
          <button class="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {loaded.kind === "loaded" && (
        <div class="usage">
          <Limits report={loaded.value.days} />
          {loaded.value.days.rows.length === 0 ? (
            <p class="muted">Nothing was used since {loaded.value.days.since}.</p>
          ) : (
            <>
              <Chart report={loaded.value.days} />
              {[loaded.value.days, ...loaded.value.tables].map((report) => (
                <UsageTable key={report.by} report={report} />
              ))}
            </>
          )}
        </div>
      )}
    </>
  );
}

const Limits = ({ report: { limits } }: { report: UsageReportData }) => (
  <ul aria-label="Limits">
    {limits.map((limit) => (
      <li key={limit.period}>
        <meter min={0} max={limit.limit} high={limit.limit * 0.8} value={limit.spent + limit.reserved} aria-hidden />
        <p class="small">{describeUsageLimit(limit)}</p>
      </li>
    ))}
  </ul>
);

const chartHeight = 100;

/** A bar for each day of the period. The tables say the same in words. */
function Chart({ report }: { report: UsageReportData }) {
  const rows = fillDays(report);
  const bars = getUsageBars({ by: "day", rows });
  return (
    <svg class="chart" viewBox={`0 0 ${rows.length * 4} ${chartHeight}`} preserveAspectRatio="none" aria-hidden>
      {rows.map(({ name }, index) => {
        const height = bars[index]! * chartHeight;
        return (
          <rect key={name} x={index * 4 + 0.5} y={chartHeight - height} width={3} height={height}>
            <title>{describeDay(report, name)}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function describeDay({ rows }: UsageReport, day: string): string {
  const row = rows.find(({ name }) => name === day);
  const figures = usageTables.day.figures.map(({ title, format }) => row && `${title} ${format(row)}`);
  return [day, ...figures].filter(Boolean).join(" · ");
}

function UsageTable({ report: { by, rows, total } }: { report: UsageReport }) {
  const { title, unnamed, figures, addsUp } = usageTables[by];
  return (
    <div class="usage-table">
      <table aria-label={`By ${title.toLowerCase()}`}>
        <thead>
          <tr>
            {[title, ...figures.map((figure) => figure.title)].map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(by === "day" ? rows.toReversed() : rows).map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <Name text={row.name === "" ? unnamed : row.name} />
              </th>
              {figures.map((figure) => (
                <td key={figure.title}>{figure.format(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {addsUp && rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              {figures.map((figure) => (
                <td key={figure.title}>{figure.format(total)}</td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
