/** Widgets that extensions show as long as they like: lines near the field for messages, and short states. */
import type { ShownUi } from "@tau/protocol";
import { Hidden } from "../text/hidden.tsx";
import { Name } from "../text/name.tsx";
import { toPlainOutput, turning } from "../text/visible-text.ts";

interface WidgetsProps {
  ui: ShownUi;
  placement: ShownUi["widgets"][number]["placement"];
}

export const Widgets = ({ ui, placement }: WidgetsProps) => (
  <>
    {ui.widgets
      .filter((widget) => widget.placement === placement)
      .map(({ key, lines }) => (
        <pre class="widget" key={key} tabIndex={0} aria-label="Shown by an extension" role="region">
          <Hidden text={toPlainOutput(lines.join("\n"))} pattern={turning} />
        </pre>
      ))}
  </>
);

export const Statuses = ({ ui }: { ui: ShownUi }) =>
  ui.statuses.length === 0 ? null : (
    <p class="statuses muted small" aria-label="States of extensions">
      {ui.statuses.map(({ key, text }) => (
        <span key={key}>
          <Name text={toPlainOutput(text)} />
        </span>
      ))}
    </p>
  );
