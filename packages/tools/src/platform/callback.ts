/** Node's callbacks as promises: `node:fs/promises` is loaded and compiled at each start, and adds nothing to them. */

/** A callback as Node calls it: with an error, or with a value. */
export type Done<T> = (error: Error | null, value?: T) => void;

export function called<T = void>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}
