/** The schedules of the gateway and their runs. */
import type { GatewayClient } from "@tau/protocol/client";
import type { ScheduleData, ScheduleRunData } from "@tau/protocol/gateway";
import { formatAge, formatTokens } from "@tau/protocol/surface";
import { useState } from "preact/hooks";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { hasScope } from "../app/has-scope.ts";
import { useLoaded } from "../app/loaded.ts";
import { showSession } from "../app/route.ts";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";

const maxRuns = 20;

export function SchedulesPanel({ client, onClose }: { client: GatewayClient; onClose: () => void }) {
  const [schedules, reloadSchedules] = useLoaded(() => client.call("schedules.list"), [client]);
  const [shownId, setShownId] = useState<string>();
  const [runs, reloadRuns] = useLoaded(
    () => client.call("schedules.runs", { limit: maxRuns, ...(shownId !== undefined && { id: shownId }) }),
    [client, shownId],
  );
  const attempt = useAttempt();
  const mayWrite = hasScope(client, "write");
  const listed = schedules.kind === "loaded" ? schedules.value.schedules : [];
  const act = async (run: () => Promise<unknown>) => {
    await attempt.run(run);
    reloadSchedules();
    reloadRuns();
  };
  const problem =
    attempt.problem || [schedules, runs].flatMap((each) => (each.kind === "failed" ? [each.message] : []))[0];
  return (
    <Dialog title="Schedules" onClose={onClose}>
      {problem !== undefined && problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <ul class="options" aria-label="Schedules">
        {listed.map((schedule) => (
          <li class="device" key={schedule.id}>
            <ScheduleText schedule={schedule} />
            <span class="buttons">
              <button
                class="button"
                aria-pressed={shownId === schedule.id}
                onClick={() => setShownId(shownId === schedule.id ? undefined : schedule.id)}
              >
                Runs
              </button>
              {mayWrite && <ScheduleButtons client={client} schedule={schedule} isBusy={attempt.isBusy} act={act} />}
            </span>
          </li>
        ))}
        {schedules.kind === "loading" && <li class="muted">Loading…</li>}
        {schedules.kind === "loaded" && listed.length === 0 && (
          <li class="muted">There are none. tau cron add makes one.</li>
        )}
      </ul>
      <h3>{shownId === undefined ? "Last runs" : "Its last runs"}</h3>
      <ul class="options" aria-label="Runs">
        {(runs.kind === "loaded" ? runs.value.runs : []).map((run) => (
          <RunItem key={run.id} run={run} onClose={onClose} />
        ))}
        {runs.kind === "loading" && <li class="muted">Loading…</li>}
        {runs.kind === "loaded" && runs.value.runs.length === 0 && <li class="muted">There was none yet.</li>}
      </ul>
    </Dialog>
  );
}

function ScheduleText({ schedule }: { schedule: ScheduleData }) {
  const { name, when, state, nextAt, runs, tokens, cost } = schedule;
  return (
    <span>
      <Name text={name} />
      <span class="tag">{state}</span>
      <span class="muted small block">
        <Name text={when} />
        {nextAt !== undefined && ` · next ${formatMoment(nextAt)}`}
      </span>
      <span class="muted small block">
        {runs === 1 ? "1 run" : `${runs} runs`} · {formatTokens(tokens)} tokens · {formatCost(cost)}
      </span>
    </span>
  );
}

interface ScheduleButtonsProps {
  client: GatewayClient;
  schedule: ScheduleData;
  isBusy: boolean;
  act: (run: () => Promise<unknown>) => Promise<void>;
}

function ScheduleButtons({ client, schedule: { id, name, state }, isBusy, act }: ScheduleButtonsProps) {
  const label = (verb: string) => `${verb} ${toSafeName(name)}`;
  return (
    <>
      <button
        class="button"
        aria-label={label("Run")}
        disabled={isBusy || state === "running"}
        onClick={() => void act(() => client.call("schedules.run", { id }))}
      >
        Run now
      </button>
      {state === "paused" ? (
        <button
          class="button"
          aria-label={label("Resume")}
          disabled={isBusy}
          onClick={() => void act(() => client.call("schedules.resume", { id }))}
        >
          Resume
        </button>
      ) : (
        <button
          class="button"
          aria-label={label("Pause")}
          disabled={isBusy || state === "over"}
          onClick={() => void act(() => client.call("schedules.pause", { id }))}
        >
          Pause
        </button>
      )}
      <button
        class="button danger"
        aria-label={label("Remove")}
        disabled={isBusy}
        onClick={() => void act(() => client.call("schedules.remove", { id }))}
      >
        Remove
      </button>
    </>
  );
}

function RunItem({ run, onClose }: { run: ScheduleRunData; onClose: () => void }) {
  const { name, state, cause, dueAt, sessionId, tokens, cost } = run;
  const text = [run.missedText, run.text].filter((each) => each !== undefined).join("; ");
  const show = (id: string) => {
    showSession(id);
    onClose();
  };
  return (
    <li class="device">
      <span>
        <Name text={name} />
        <span class="tag">{cause === "late" && state !== "missed" ? `${state}, late` : state}</span>
        <span class="muted small block">
          {formatAge(dueAt, Date.now())}
          {tokens !== undefined && ` · ${formatTokens(tokens)} tokens`}
          {cost !== undefined && ` · ${formatCost(cost)}`}
        </span>
        {text !== "" && (
          <span class="small cut block">
            <Name text={text} />
          </span>
        )}
      </span>
      {sessionId !== undefined && (
        <button class="button" onClick={() => show(sessionId)}>
          Open
        </button>
      )}
    </li>
  );
}

const formatCost = (cost: number): string => (cost === 0 ? "$0" : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`);

const formatMoment = (timestamp: string): string =>
  new Date(timestamp).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
