/** Stands between a run and code that is not ours and may not disturb it. */

export interface Wall {
  /** What `work` gives, or undefined if it throws. A promise that nobody waits for may reject. */
  run<T>(work: () => T): T | undefined;
}

/** `onTrouble` hears of the first trouble only: what fails once fails at every step. It may fail, too. */
export function createWall(onTrouble: (error: unknown) => void = () => undefined): Wall {
  let isTold = false;
  const tell = (error: unknown) => {
    if (isTold) return;
    isTold = true;
    try {
      onTrouble(error);
    } catch (another) {
      // Who cannot even be told of it has no other way to hear it.
      void another;
    }
  };
  return {
    run(work) {
      try {
        const result = work();
        if (result instanceof Promise) result.catch(tell);
        return result;
      } catch (error) {
        tell(error);
        return undefined;
      }
    },
  };
}
