/** Lets somebody work in a copy of the repository, and brings the changes back. */
import { getErrorMessage } from "@tau/ai/internal";
import {
  type FinishOptions,
  type Isolated,
  type IsolatedOptions,
  type IsolatedResult,
  openIsolated,
} from "./isolated.ts";

export interface IsolatedWork<T> {
  readonly ended: T;
  /** `left`: the changes could not be brought back, and are still in the copy. */
  readonly changes: IsolatedResult | { kind: "left"; message: string };
}

/** If the work throws, its changes are thrown away. `chooseResult` decides how the changes come back. */
export async function workIsolated<T>(
  options: IsolatedOptions,
  work: (place: Isolated["child"]) => Promise<T>,
  chooseResult: (ended: T) => FinishOptions,
): Promise<IsolatedWork<T>> {
  const isolated = await openIsolated(options);
  let ended: T;
  try {
    ended = await work(isolated.child);
  } catch (error) {
    await isolated.discard();
    throw error;
  }
  try {
    return { ended, changes: await isolated.finish(chooseResult(ended)) };
  } catch (error) {
    const message = `Its changes could not be brought back and are still in ${isolated.cwd}: ${getErrorMessage(error)}`;
    return { ended, changes: { kind: "left", message } };
  }
}
