/** The tools, and which of them the model is shown. */
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { Name } from "../text/name.tsx";
import type { SessionPanelProps } from "./model-panel.tsx";

export function ToolsPanel({ session, info, mayChange, onClose }: SessionPanelProps & { mayChange: boolean }) {
  const attempt = useAttempt();
  const toggle = (name: string) =>
    attempt.run(async () => {
      const names = info.tools.filter((tool) => (tool.name === name ? !tool.active : tool.active));
      await session.call("set_tools", { names: names.map((tool) => tool.name) }, { isLasting: false });
      await info.refresh();
    });
  return (
    <Dialog title="Tools" onClose={onClose}>
      {!mayChange && <p class="muted small">This device may not change which tools the model is shown.</p>}
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <ul class="options" aria-label="Tools">
        {info.tools.map(({ name, description, active, reason }) => (
          <li key={name}>
            <button
              class={active ? "option chosen" : "option"}
              aria-pressed={active}
              disabled={!mayChange || attempt.isBusy}
              onClick={() => void toggle(name)}
            >
              <span>
                <Name text={name} />
                <span class="muted small block">
                  <Name text={reason === undefined ? description : `${description} (${reason})`} />
                </span>
              </span>
              <span class="small">{active ? "Shown" : "Hidden"}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
