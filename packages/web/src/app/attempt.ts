/** Something that may fail, with what went wrong in words. */
import { useState } from "preact/hooks";

interface Attempt {
  readonly isBusy: boolean;
  /** The error of the last attempt; empty if there was none. */
  readonly problem: string;
  /** Whether it went well. */
  run(act: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  return {
    isBusy,
    problem,
    clear: () => setProblem(""),
    async run(act) {
      setBusy(true);
      setProblem("");
      try {
        await act();
        return true;
      } catch (error) {
        setProblem(describeProblem(error));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

export const describeProblem = (error: unknown): string => (error instanceof Error ? error.message : String(error));
