/** The name of a session, where it works, and with which model. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { defaultPermissionMode, isOtherModel } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { formatUsageLimit, isNearLimit, pluralise } from "@tau/protocol/surface";
import { deleteSession } from "../sessions/delete-session.ts";
import { formatCost, shortenPath } from "../text/format.ts";
import { Name } from "../text/name.tsx";
import { toSafeName, toShortName } from "../text/visible-text.ts";
import { FocusedInput } from "./focused-field.tsx";
import { EditIcon, MenuIcon, TrashIcon, TreeIcon } from "./icons.tsx";
import { reportFailure } from "./problems.tsx";
import { useRedraw } from "./redraw.ts";
import { showSession } from "./route.ts";
import type { SessionInfo } from "./session-info.ts";

interface SessionHeaderProps {
  client: GatewayClient;
  session: RemoteSession;
  info: SessionInfo;
  onOpen: (panel: "tree" | "model" | "stats") => void;
}

export function SessionHeader({ client, session, info, onOpen }: SessionHeaderProps) {
  useRedraw((listener) => session.onChange(listener), [session]);
  const { state, stats } = info;
  const { log, live } = session.view;
  const title = log.name ?? (state ? shortenPath(state.cwd) : "Session");
  const percent = stats?.contextUsage?.percent;
  const status = getStatus(session);
  const shownTitle = session.ui.title ?? title;
  const mark = live.approvals.length + session.ui.dialogs.length > 0 ? "? " : live.run ? "● " : "";
  useEffect(() => {
    document.title = `${mark}${toShortName(shownTitle, maxTitle)} – tau`;
    return () => {
      document.title = "tau";
    };
  }, [mark, shownTitle]);
  const selected = state?.model ? state.model.name || state.model.id : "No model";
  const used = live.used && isOtherModel(live.used) ? live.used : undefined;
  const model = used ? `${selected} → ${used.modelId}` : selected;
  return (
    <header class="session-header">
      <button class="icon-button only-phone" onClick={() => showSession(undefined)} aria-label="All sessions">
        <MenuIcon />
      </button>
      <div class="session-name">
        <EditableName
          title={title}
          onRename={(name) => reportFailure(session.call("set_session_name", { name }))}
          onDelete={() => reportFailure(deleteSession(client, session, title))}
        />
        <p class="muted small cut" title={state?.cwd}>
          <span class={`dot ${status.dot}`} aria-hidden="true" />
          {status.text}
          {live.jobs.length > 0 && ` · ${pluralise(live.jobs.length, "job")}`}
          {live.permissionMode !== defaultPermissionMode && (
            <>
              {" "}
              · <span class="warn">{live.permissionMode}</span>
            </>
          )}
          {log.name !== undefined && state && (
            <>
              {" "}
              · <Name text={shortenPath(state.cwd)} />
            </>
          )}
        </p>
      </div>
      <button
        class="chip"
        onClick={() => onOpen("model")}
        title={used?.reason}
        aria-label={`Model ${toSafeName(model)}, thinking ${state?.thinkingLevel ?? ""}`}
      >
        <span class="cut">
          <Name text={model} />
        </span>
        {state && state.thinkingLevel !== "off" && <span class="muted level"> {state.thinkingLevel}</span>}
      </button>
      <button class="chip" onClick={() => onOpen("stats")} aria-label="Cost and context">
        {stats ? formatCost(stats.cost) : "$–"}
        {stats?.costLimits?.filter(isNearLimit).map((limit) => (
          <span class="warn" key={limit.period}>
            {" "}
            {limit.period} {formatUsageLimit(limit)}
          </span>
        ))}
        {percent !== undefined && <span class={percent > 80 ? "warn" : "muted"}> {Math.round(percent)}%</span>}
      </button>
      <button class="icon-button" onClick={() => onOpen("tree")} aria-label="Tree of the session">
        <TreeIcon />
      </button>
    </header>
  );
}

const maxTitle = 200;

function getStatus({ state, isLoaded, view, placeInLine }: RemoteSession): { text: string; dot: string } {
  if (state.kind === "live") {
    if (view.live.run) return { text: "Working", dot: "running" };
    if (placeInLine !== undefined) return { text: `Waiting for a run (number ${placeInLine})`, dot: "waiting" };
    return { text: "Ready", dot: "idle" };
  }
  if (state.kind === "closed") return { text: "Closed", dot: "" };
  return { text: isLoaded ? "Not connected" : "Loading…", dot: "" };
}

interface EditableNameProps {
  title: string;
  onRename: (name: string) => void;
  onDelete: () => void;
}

function EditableName({ title, onRename, onDelete }: EditableNameProps) {
  const [text, setText] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  /** A field that is removed loses the focus, which must not save once more, or in spite of Escape. */
  const isOver = useRef(false);
  useLayoutEffect(() => {
    if (text === undefined && wasEditing.current) button.current?.focus();
    wasEditing.current = text !== undefined;
  }, [text]);
  const begin = () => {
    isOver.current = false;
    setText(title);
  };
  if (text === undefined) {
    return (
      <div class="session-heading">
        <h1 class="cut" title={toShortName(title, maxTitle)}>
          <Name text={title} />
        </h1>
        <button class="icon-button" ref={button} onClick={begin} aria-label="Rename this session">
          <EditIcon />
        </button>
        <button class="icon-button" onClick={onDelete} aria-label="Delete this session">
          <TrashIcon />
        </button>
      </div>
    );
  }
  const end = () => {
    isOver.current = true;
    setText(undefined);
  };
  const save = () => {
    if (isOver.current) return;
    if (text.trim() !== "" && text.trim() !== title) onRename(text.trim());
    end();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <FocusedInput
        class="name-input"
        aria-label="Name of this session"
        value={text}
        maxLength={200}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Escape" && end()}
      />
    </form>
  );
}
