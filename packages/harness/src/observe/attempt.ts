/** Calls code of others, such as an SDK, whose failures must not disturb a run. */

/** The result of `work`, or undefined if it throws. A promise that it returns may reject. */
export type Attempt = <T>(work: () => T) => T | undefined;

/** `onError` is called with the first error only: code that fails once fails in every step. It may throw too. */
export function createAttempt(onError: (error: unknown) => void = () => undefined): Attempt {
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (hasFailed) return;
    hasFailed = true;
    try {
      onError(error);
    } catch (another) {
      // There is no other place to report it.
      void another;
    }
  };
  return (work) => {
    try {
      const result = work();
      if (result instanceof Promise) result.catch(fail);
      return result;
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
}
