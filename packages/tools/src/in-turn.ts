/** Lets promises settle in the order in which they were given, however long each takes. */
export type InTurn = <T>(work: Promise<T>) => Promise<T>;

export function createInTurn(): InTurn {
  let earlier: Promise<void> = Promise.resolve();
  return (work) => {
    const result = Promise.all([work, earlier]).then(([value]) => value);
    // A failure is not held back, but what comes later still waits for what came earlier.
    earlier = Promise.allSettled([earlier, result]).then(() => undefined);
    return result;
  };
}
