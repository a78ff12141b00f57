/** Problems that nothing else would show, and messages of commands, over the transcript until they are read. */
import { Hidden } from "../text/hidden.tsx";
import { describeProblem } from "./attempt.ts";
import { CloseIcon } from "./icons.tsx";
import { useRedraw } from "./redraw.ts";

interface Remark {
  readonly id: number;
  readonly kind: "problem" | "note";
  readonly text: string;
  /** An action that the user can take. */
  readonly action: RemarkAction | undefined;
}

interface RemarkAction {
  readonly label: string;
  readonly run: () => void;
}

const maxRemarks = 3;
let remarks: readonly Remark[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function setRemarks(changed: readonly Remark[]): void {
  remarks = changed;
  for (const listener of listeners) listener();
}

function add(kind: Remark["kind"], text: string, action?: RemarkAction): void {
  // The same again is said once, unless something can be done about each.
  const others = remarks.filter((remark) => remark.text !== text || remark.action);
  setRemarks([...others, { id: ++lastId, kind, text, action }].slice(-maxRemarks));
}

const remove = (remark: Remark): void => setRemarks(remarks.filter((other) => other !== remark));

export function reportProblem(error: unknown): undefined {
  add("problem", describeProblem(error));
}

/** Notifies the user if it fails. */
export const reportFailure = (act: Promise<unknown>): void => void act.catch(reportProblem);

/** Shows the user a notice that is no problem. */
export const tell = (text: string, action?: RemarkAction): void => add("note", text, action);

export function Problems() {
  useRedraw((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return (
    <div class="problems">
      {remarks.map((remark) => (
        <p class={remark.kind} role={remark.kind === "problem" ? "alert" : "status"} key={remark.id}>
          <span class="lines">
            <Hidden text={remark.text} />
          </span>
          {remark.action && (
            <button
              class="text-button"
              onClick={() => {
                remove(remark);
                remark.action?.run();
              }}
            >
              {remark.action.label}
            </button>
          )}
          <button class="icon-button" aria-label="I have read this" onClick={() => remove(remark)}>
            <CloseIcon />
          </button>
        </p>
      ))}
    </div>
  );
}
