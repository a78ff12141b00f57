/** What went wrong where nothing else would tell it, over the transcript until it is read. */
import { describeProblem } from "./attempt.ts";
import { CloseIcon } from "./icons.tsx";
import { useRedraw } from "./redraw.ts";

interface Problem {
  readonly id: number;
  readonly text: string;
}

const maxProblems = 3;
let problems: readonly Problem[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function setProblems(changed: readonly Problem[]): void {
  problems = changed;
  for (const listener of listeners) listener();
}

export function reportProblem(error: unknown): undefined {
  const text = describeProblem(error);
  const others = problems.filter((problem) => problem.text !== text);
  setProblems([...others, { id: ++lastId, text }].slice(-maxProblems));
}

/** Tells the user if it fails. */
export const reportFailure = (act: Promise<unknown>): void => void act.catch(reportProblem);

export function Problems() {
  useRedraw((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return (
    <div class="problems" role="alert">
      {problems.map((problem) => (
        <p class="problem" key={problem.id}>
          <span>{problem.text}</span>
          <button
            class="icon-button"
            aria-label="I have read this"
            onClick={() => setProblems(problems.filter((other) => other !== problem))}
          >
            <CloseIcon />
          </button>
        </p>
      ))}
    </div>
  );
}
