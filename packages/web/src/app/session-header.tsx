/** The name of a session, where it works, and with which model. */
import { useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { formatCost, shortenPath } from "../text/format.ts";
import { EditIcon, MenuIcon, TreeIcon } from "./icons.tsx";
import { useRedraw } from "./redraw.ts";
import { showSession } from "./route.ts";
import type { SessionInfo } from "./session-info.ts";

export interface SessionHeaderProps {
  session: RemoteSession;
  info: SessionInfo;
  onOpen: (panel: "tree" | "model" | "stats") => void;
}

export function SessionHeader({ session, info, onOpen }: SessionHeaderProps) {
  useRedraw((listener) => session.onChange(listener), [session]);
  const { state, stats } = info;
  const { log, live } = session.view;
  const title = log.name ?? (state ? shortenPath(state.cwd) : "Session");
  const percent = stats?.contextUsage?.percent;
  const model = state?.model ? state.model.name || state.model.id : "No model";
  return (
    <header class="session-header">
      <button class="icon-button only-phone" onClick={() => showSession(undefined)} aria-label="All sessions">
        <MenuIcon />
      </button>
      <div class="session-name">
        <EditableName key={title} title={title} onRename={(name) => void session.call("set_session_name", { name })} />
        <p class="muted small cut" title={state?.cwd}>
          <span class={live.run ? "dot running" : "dot idle"} aria-hidden="true" />
          {live.run ? "Working" : session.state.kind === "waiting" ? "Loading…" : "Ready"}
          {log.name !== undefined && state && ` · ${shortenPath(state.cwd)}`}
        </p>
      </div>
      <button
        class="chip"
        onClick={() => onOpen("model")}
        aria-label={`Model ${model}, thinking ${state?.thinkingLevel ?? ""}`}
      >
        <span class="cut">{model}</span>
        {state && state.thinkingLevel !== "off" && <span class="muted level"> {state.thinkingLevel}</span>}
      </button>
      <button class="chip" onClick={() => onOpen("stats")} aria-label="Cost and context">
        {stats ? formatCost(stats.cost) : "$–"}
        {percent !== undefined && <span class={percent > 80 ? "warn" : "muted"}> {Math.round(percent)}%</span>}
      </button>
      <button class="icon-button" onClick={() => onOpen("tree")} aria-label="Tree of the session">
        <TreeIcon />
      </button>
    </header>
  );
}

function EditableName({ title, onRename }: { title: string; onRename: (name: string) => void }) {
  const [text, setText] = useState<string>();
  if (text === undefined) {
    return (
      <h1 class="session-heading">
        <span class="cut">{title}</span>
        <button class="icon-button quiet" onClick={() => setText(title)} aria-label="Rename this session">
          <EditIcon />
        </button>
      </h1>
    );
  }
  const save = () => {
    if (text.trim() !== "" && text.trim() !== title) onRename(text.trim());
    setText(undefined);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <input
        class="name-input"
        aria-label="Name of this session"
        value={text}
        maxLength={200}
        ref={(element) => element?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Escape" && setText(undefined)}
      />
    </form>
  );
}
