/** Which model answers, and how much it thinks. */
import { useState } from "preact/hooks";
import type { ModelData, ThinkingLevelName } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { formatTokens } from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";
import type { SessionInfo } from "../app/session-info.ts";
import { Name } from "../text/name.tsx";

export interface SessionPanelProps {
  session: RemoteSession;
  info: SessionInfo;
  onClose: () => void;
}

const maxShown = 100;

export function ModelPanel({ session, info, onClose }: SessionPanelProps) {
  const [query, setQuery] = useState("");
  const [models] = useLoaded(() => session.call("get_available_models", {}), [session]);
  const [levels, reloadLevels] = useLoaded(() => session.call("get_available_thinking_levels"), [session]);
  const attempt = useAttempt();
  const change = (act: () => Promise<unknown>) =>
    attempt.run(async () => {
      await act();
      await info.refresh();
      reloadLevels();
    });
  const { model, thinkingLevel, used } = info.state ?? {};
  const isChosen = ({ provider, id }: ModelData) => provider === model?.provider && id === model.id;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = (models.kind === "loaded" ? models.value.models : []).filter((each) =>
    words.every((word) => `${each.provider}/${each.id} ${each.name}`.toLowerCase().includes(word)),
  );
  return (
    <Dialog title="Model and thinking" onClose={onClose}>
      <Levels
        levels={levels.kind === "loaded" ? levels.value.levels : []}
        chosen={thinkingLevel}
        onChoose={(level) => void change(() => session.call("set_thinking_level", { level }, { isLasting: false }))}
      />
      {used && <p class="muted small">{used.reason}</p>}
      <input
        class="filter"
        type="search"
        autofocus
        placeholder="Search models"
        aria-label="Search models"
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {(attempt.problem !== "" || models.kind === "failed") && (
        <p class="problem" role="alert">
          {attempt.problem || (models.kind === "failed" ? models.message : "")}
        </p>
      )}
      <ul class="options" aria-label="Models">
        {matching.slice(0, maxShown).map((each) => (
          <li key={`${each.provider}/${each.id}`}>
            <button
              class={isChosen(each) ? "option chosen" : "option"}
              aria-pressed={isChosen(each)}
              disabled={attempt.isBusy}
              onClick={() => void change(() => setModel(session, each))}
            >
              <span class="cut">
                <Name text={each.name || each.id} />
              </span>
              <span class="muted small">
                <Name text={each.provider} /> · {formatTokens(each.contextWindow)}
              </span>
            </button>
          </li>
        ))}
        {models.kind === "loading" && <li class="muted">Loading…</li>}
        {matching.length === 0 && models.kind === "loaded" && <li class="muted">No models.</li>}
        {matching.length > maxShown && <li class="muted">{matching.length - maxShown} more: search for them.</li>}
      </ul>
    </Dialog>
  );
}

/** Not later, when somebody else may have chosen another one. */
const setModel = (session: RemoteSession, { provider, id }: ModelData) =>
  session.call("set_model", { provider, modelId: id }, { isLasting: false });

interface LevelsProps {
  levels: readonly ThinkingLevelName[];
  chosen: ThinkingLevelName | undefined;
  onChoose: (level: ThinkingLevelName) => void;
}

const Levels = ({ levels, chosen, onChoose }: LevelsProps) =>
  levels.length < 2 ? null : (
    <div class="choice spread" role="group" aria-label="Thinking">
      {levels.map((level) => (
        <button key={level} aria-pressed={level === chosen} onClick={() => onChoose(level)}>
          {level}
        </button>
      ))}
    </div>
  );
