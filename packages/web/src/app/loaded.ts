/** Something that is asked for once, and again when somebody says so. */
import { useEffect, useState } from "preact/hooks";
import { describeProblem } from "./attempt.ts";

type Loaded<T> = { kind: "loading" } | { kind: "loaded"; value: T } | { kind: "failed"; message: string };

export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): [Loaded<T>, reload: () => void] {
  const [state, setState] = useState<Loaded<T>>({ kind: "loading" });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    load().then(
      (value) => isOver || setState({ kind: "loaded", value }),
      (error: unknown) => isOver || setState({ kind: "failed", message: describeProblem(error) }),
    );
    return () => {
      isOver = true;
    };
  }, [...inputs, round]);
  return [state, () => setRound((last) => last + 1)];
}
