/** The calls that a tool made, one line each. */
import { describeNestedState, maxNestedRows, type NestedCallRow } from "@tau/protocol/surface";
import { Hidden } from "../text/hidden.tsx";
import { Name } from "../text/name.tsx";

interface NestedCallsProps {
  rows: readonly NestedCallRow[];
  /** Without it, only the last ones are shown. */
  isExpanded: boolean;
  onExpand: () => void;
}

export function NestedCalls({ rows, isExpanded, onExpand }: NestedCallsProps) {
  // A button would take as much space as one row more.
  const isFolded = !isExpanded && rows.length > maxNestedRows + 1;
  const shown = isFolded ? rows.slice(-maxNestedRows) : rows;
  return (
    <ul class="nested-calls" aria-label="Calls of this tool">
      {isFolded && (
        <li>
          <button class="text-button" onClick={onExpand}>
            … and {rows.length - shown.length} more calls
          </button>
        </li>
      )}
      {shown.map(({ id, name, subject, state, depth }) => (
        <li key={id} class={`nested-call ${state}`} style={{ "--depth": depth }}>
          <span class="dot" aria-hidden="true" />
          <span class="call-name cut">
            <Name text={name} />
          </span>
          <span class="call-subject">
            <Hidden text={subject} />
          </span>
          <span class="call-note">{describeNestedState(state)}</span>
        </li>
      ))}
    </ul>
  );
}
